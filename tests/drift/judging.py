"""Recordings, judged without files and commands."""

from collections.abc import Sequence

from image_workflow_emulator.drift.exchanges import RecordedExchange, Recording
from image_workflow_emulator.drift.judgement import DriftOptions, Judgement
from image_workflow_emulator.drift.recognition import recognize
from image_workflow_emulator.drift.traffic import RecordedCall
from image_workflow_emulator.report import Report
from tests.drift.recorded_service import CONTRACT


def judged(*recordings: Sequence[RecordedExchange]) -> Report:
    """Judge some recordings."""
    read = [Recording(exchanges) for exchanges in recordings]
    return Judgement(recognize(read, CONTRACT), DriftOptions()).report()


def differences_in(*recordings: Sequence[RecordedExchange]) -> list[str]:
    """Judge some recordings, and return what differs: readings by their names (`D37=None`
    where no reading explains the service), and each other finding as its verdict and
    place (`breach Request-Id`).
    """
    report = judged(*recordings)
    rows = report.details["decisions"]
    differing = [row for row in rows if row.verdict in ("other", "neither")]
    readings = [f"{row.decision}={row.reading}" for row in differing]
    findings = report.findings[len(differing) :]
    return readings + [f"{one.rule} {str(one.where).split()[-1]}" for one in findings]


def calls_in(exchanges: Sequence[RecordedExchange]) -> Sequence[RecordedCall]:
    """Return the calls of a recording that has one address."""
    (traffic,) = recognize([Recording(exchanges)], CONTRACT).traffics
    return traffic.calls

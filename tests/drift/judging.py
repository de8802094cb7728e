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
    recognized = recognize(read, CONTRACT)
    return Judgement(recognized, DriftOptions()).report()


def differences_in(*recordings: Sequence[RecordedExchange]) -> list[str]:
    """Judge some recordings, and return what differs.

    Readings come first, by their names (`D37=None` where no reading explains the
    service). Each other finding is its verdict and its place (`breach Request-Id`).
    """
    report = judged(*recordings)
    differences = [
        f"{row.decision}={row.reading}"
        for row in report.details["decisions"]
        if row.verdict in ("other", "neither")
    ]
    for finding in report.findings[len(differences) :]:
        place = str(finding.where).split()[-1]
        differences.append(f"{finding.rule} {place}")
    return differences


def calls_in(exchanges: Sequence[RecordedExchange]) -> Sequence[RecordedCall]:
    """Return the calls of a recording that has one address."""
    recognized = recognize([Recording(exchanges)], CONTRACT)
    (traffic,) = recognized.traffics
    return traffic.calls

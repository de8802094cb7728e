"""The command `drift`: which readings of the specification a recorded service has, and
what no reading explains.

First each decision is observed by itself, in all recordings together. Then an emulator
with the readings that were found replays each recording. Each remaining difference is a
breach of the specification, a defect of ours, or something that nobody wrote down.
"""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from image_workflow_emulator.client.local_files import write_file
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.domain.readings import (
    DECISIONS,
    NO_READINGS,
    PLAIN,
    Readings,
    by_decision,
    chosen,
    parse_readings,
)
from image_workflow_emulator.drift.comparison import Comparison, size_differences
from image_workflow_emulator.drift.differences import Difference, folded
from image_workflow_emulator.drift.first_differences import FirstDifferences
from image_workflow_emulator.drift.observations.observation import Observation
from image_workflow_emulator.drift.observations.table import OBSERVATIONS
from image_workflow_emulator.drift.pinning import readings_file
from image_workflow_emulator.drift.prices import Prices
from image_workflow_emulator.drift.recognition import Recognized, recognize
from image_workflow_emulator.drift.recordings import check_calls, read_recordings
from image_workflow_emulator.drift.replay import Replay, Replayed
from image_workflow_emulator.drift.traffic import Traffic
from image_workflow_emulator.drift.verdicts import DecisionRow, decide
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import (
    Report,
    ReportFinding,
    ReportTable,
    Severity,
)

FAILURES: Final = ("other", "neither", "breach", "bug")
"""The verdicts that make the command fail, unless `--fail-on` says otherwise."""
_PIN: Final = "image-workflow-emulator drift --pin image-workflow.readings.yaml FILE"


class DriftOptions(Struct, frozen=True):
    """What a judgement of recordings starts from, leaves out, and fails on."""

    readings: Readings = NO_READINGS
    """What is known of the service already."""
    ignore: Collection[str] = ()
    """The decisions to leave out."""
    fail_on: Collection[str] = FAILURES
    """The verdicts that make the command fail."""
    pin: Path | None = None
    """Where to write the readings that were found."""


def judge_recordings(files: Sequence[str], options: DriftOptions) -> Report:
    """Judge the service that was recorded in some files, and pin its readings if asked.

    Raises:
        UsageError: a file holds no recording, or no call of the service.
        UnusableFileError: a file cannot be read, or the pin cannot be written.
    """
    recognized = recognize(read_recordings(files), load_contract())
    call_count = sum(len(traffic.calls) for traffic in recognized.traffics)
    check_calls(call_count, files)
    judgement = Judgement(recognized, options)
    check_calls(judgement.compared, files)
    if options.pin is not None:
        last_name = Path(files[-1]).name
        write_file(options.pin, readings_file(judgement.other_rows, last_name))
    return judgement.report()


class Judgement:
    """What recordings show of the service, and the report of that."""

    def __init__(self, recognized: Recognized, options: DriftOptions) -> None:
        self._recognized = recognized
        self._options = options
        self.rows = [
            _observe(recognized.traffics, decision, options.readings)
            for decision in DECISIONS
            if decision not in options.ignore
        ]
        """The verdict on each decision."""
        self.differences: list[Difference] = []
        """What differs although the readings that were found are taken into account."""
        self.compared = 0
        self._noise = recognized.left_out
        for traffic in recognized.traffics:
            self._compare(traffic)
        self.differences = folded(self.differences)

    def _compare(self, traffic: Traffic) -> None:
        """Replay the calls of a recording, and note how the answers differ."""
        known_readings = chosen(self._options.readings)
        readings = ",".join([PLAIN, *known_readings, *self._found_readings])
        replay = Replay(traffic, readings)
        replayed = asyncio.run(replay.run())
        prices = Prices(traffic, parse_readings(readings))
        comparison = Comparison(replay, prices.mispriced)
        first = FirstDifferences(comparison, prices)
        first.compare_all(replayed)
        self.differences += first.differences
        self.differences += size_differences(traffic)
        unasked = sum(map(_is_unasked, replayed))
        self.compared += len(replayed) - unasked
        self._noise += first.passed_over + unasked

    @property
    def other_rows(self) -> list[DecisionRow]:
        """The decisions with another reading than was known."""
        return [row for row in self.rows if row.verdict == "other"]

    @property
    def _found_readings(self) -> list[str]:
        """The readings that differ from what was known, such as `D26=always-a-cursor`."""
        return [f"{row.decision}={row.reading}" for row in self.other_rows]

    # The report -----------------------------------------------------------------------

    def report(self) -> Report:
        """Return the report."""
        findings = [*self._findings_on_decisions(), *self._findings_on_differences()]
        has_failed = any(finding.severity == "error" for finding in findings)
        next_steps = []
        if self._found_readings:
            next_steps = [_PIN]
        return Report(
            kind="drift",
            ok=not has_failed,
            summary=self._summary(len(findings)),
            findings=findings,
            checked={row.decision: row.of for row in self.rows},
            tables=[self._table_of_missing()],
            next=next_steps,
            details={
                "compared": self.compared,
                "decisions": self.rows,
                "breaches": self._with_verdict("breach"),
                "bugs": self._with_verdict("bug"),
                "noise": self._noise,
                "left_out": self._recognized.others,
            },
            status=int(has_failed),
        )

    def _summary(self, findings: int) -> str:
        compared = count_of(self.compared, "call")
        parts = [f"{compared} compared, {count_of(findings, 'difference')}"]
        for other in self._recognized.others:
            calls = count_of(other.calls, "call")
            parts.append(f"{calls} to {other.address} left out")
        assumed = [row.decision for row in self.rows if row.verdict == "assumed"]
        parts.append(f"as assumed: {', '.join(assumed) or 'nothing'}")
        return "; ".join(parts)

    def _findings_on_decisions(self) -> Iterator[ReportFinding]:
        for row in self.rows:
            if row.verdict not in FAILURES:
                continue
            name = f"{row.decision}={row.reading}"
            message = f"no reading explains what the service did: {row.what}"
            remedy = None
            if row.reading is not None:
                message = (
                    f"the service has the reading {name},"
                    f" as {row.seen} of {row.of} answers show"
                )
                remedy = f"run your tests with --readings {name}"
            yield ReportFinding(
                rule=row.decision,
                severity=self._severity(row.verdict),
                where=first_of(row.where, separator="; "),
                message=message,
                remedy=remedy,
            )

    def _findings_on_differences(self) -> Iterator[ReportFinding]:
        for difference in self.differences:
            place = f"{difference.operation} {difference.where}"
            yield ReportFinding(
                rule=difference.verdict,
                severity=self._severity(difference.verdict),
                where=f"{difference.exchange}, {place}",
                message=difference.message,
                source=difference.sentence or None,
            )

    def _severity(self, verdict: str) -> Severity:
        if verdict in self._options.fail_on:
            return "error"
        return "warning"

    def _table_of_missing(self) -> ReportTable:
        """Return the decisions that the recordings do not tell, with the calls that would."""
        missing = {row.decision for row in self.rows if row.verdict == "untold"}
        ledger = shipped_document("contract/decisions.yaml")["decisions"]
        rows = [
            (entry["id"], entry["shown_by"])
            for entry in ledger
            if entry["id"] in missing
        ]
        return ReportTable(
            title="Not in this recording",
            columns=["decision", "shown by"],
            rows=rows,
        )

    def _with_verdict(self, verdict: str) -> list[Difference]:
        return [
            difference
            for difference in self.differences
            if difference.verdict == verdict
        ]


def _is_unasked(replayed: Replayed) -> bool:
    """Whether nothing of a call is compared; of an upload the status is."""
    return replayed.answer is None and replayed.call.surface != "upload"


def _observe(
    traffics: Sequence[Traffic],
    decision: str,
    known: Readings,
) -> DecisionRow:
    """Return the verdict on a decision, by all recordings."""
    observe = OBSERVATIONS[decision]
    observations: list[Observation] = []
    for traffic in traffics:
        observations += observe(traffic)
    usual = by_decision(known).get(decision, PLAIN)
    return decide(decision, usual, observations)

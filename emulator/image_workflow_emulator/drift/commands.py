"""The commands `drift` and `conduct FILE`: recordings in, a report out. The table of commands finds them by their
names.
"""

import asyncio
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import yaml
from msgspec import to_builtins

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.domain.readings import NO_READINGS
from image_workflow_emulator.drift.as_records import conduct_report
from image_workflow_emulator.drift.judgement import DecisionRow, Judgement, judge
from image_workflow_emulator.drift.recordings import read_recordings
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable, Severity
from image_workflow_emulator.scenario.world import readings_of_option
from image_workflow_emulator.settings import SettingError, UsageError
from image_workflow_emulator.testing.options import writable_file, write_file

_VERDICTS: Final = ("other", "neither", "breach", "bug")
"""The verdicts that make the command fail, unless `--fail-on` says otherwise."""
_PIN_HEAD: Final = "# What is known of the real service. Written by `image-workflow-emulator drift --pin`.\n"
_MAX_PLACES: Final = 3


def drift(options: Namespace, _environment: Mapping[str, str]) -> Report:
    """Judge which readings of the specification the service has.

    Raises:
        UsageError: nothing can be compared, or an option or a file cannot be used.
        UnusableFileError: a recording cannot be read.
    """
    fail_on = set(_VERDICTS if options.fail_on is None else filter(None, options.fail_on.split(",")))
    for word in fail_on - set(_VERDICTS):
        raise SettingError("--fail-on", word, f"some of {', '.join(_VERDICTS)}, with commas between")
    known = readings_of_option(options.readings) if options.readings else NO_READINGS
    pin = writable_file("--pin", options.pin) if options.pin is not None else None
    exchanges = read_recordings(options.files)
    found = asyncio.run(judge(exchanges, load_contract(), known, frozenset(options.ignore)))
    if not found.compared:
        raise _nothing_to_judge(options.files)
    if pin is not None:
        write_file(pin, _readings_file(found, Path(options.files[-1]).name))
    return _drift_report(found, fail_on)


def _nothing_to_judge(files: Sequence[str]) -> UsageError:
    return UsageError(f"{Path(files[-1]).name}: no exchange is a call of the Image Workflow Service")


def _readings_file(found: Judgement, source: str) -> str:
    """Return the readings that were found as a readings file, with what each rests on."""
    rows = [row for row in found.rows if row.verdict == "other"]
    evidence = {
        row.decision: {"seen": row.seen, "of": row.of, "last": format_timestamp(row.last), "from": source}
        for row in rows
    }
    content = {"readings": {row.decision: row.reading for row in rows}, "evidence": evidence}
    return _PIN_HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _drift_report(found: Judgement, fail_on: set[str]) -> Report:
    """Put a judgement into a report."""
    findings = list(_findings(found, fail_on))
    assumed = [row.decision for row in found.rows if row.verdict == "assumed"]
    missing = {row.decision for row in found.rows if row.verdict == "untold"}
    ledger = shipped_document("contract/decisions.yaml")["decisions"]
    shown_by = [(entry["id"], entry["shown_by"]) for entry in ledger if entry["id"] in missing]
    has_failed = any(finding.severity == "error" for finding in findings)
    return Report(
        kind="drift",
        ok=not has_failed,
        summary=f"{count_of(found.compared, 'call')} compared, {count_of(len(findings), 'difference')}; "
        f"as assumed: {', '.join(assumed) or 'nothing'}",
        findings=findings,
        counts={"compared": found.compared, "left_aside": found.noise},
        checked={row.decision: row.of for row in found.rows},
        tables=[ReportTable(title="Not in this recording", columns=["decision", "shown by"], rows=shown_by)],
        next=["image-workflow-emulator drift --pin image-workflow.readings.yaml FILE"] if found.readings else [],
        details={
            "compared": found.compared,
            "decisions": to_builtins(found.rows),
            "breaches": to_builtins(found.of("breach")),
            "bugs": to_builtins(found.of("bug")),
            "noise": found.noise,
        },
        status=int(has_failed),
    )


def _findings(found: Judgement, fail_on: set[str]) -> Iterator[ReportFinding]:
    severities: dict[str, Severity] = {verdict: "error" if verdict in fail_on else "warning" for verdict in _VERDICTS}
    for row in (row for verdict in ("other", "neither") for row in found.rows if row.verdict == verdict):
        yield ReportFinding(
            rule=row.decision,
            severity=severities[row.verdict],
            where=first_of(row.where, _MAX_PLACES, "; "),
            message=_message(row),
            remedy=f"run your tests with --readings {row.decision}={row.reading}" if row.reading else None,
        )
    for one in chain.from_iterable(map(found.of, ("breach", "neither", "bug"))):
        times = f", {one.times} times" if one.times > 1 else ""
        yield ReportFinding(
            rule=one.verdict,
            severity=severities[one.verdict],
            where=f"{one.exchange}, {one.operation} {one.where}",
            message=f"recorded {one.recorded}, expected {one.expected}{times}",
            source=one.sentence or None,
        )


def _message(row: DecisionRow) -> str:
    if row.reading is None:
        return f"no reading explains what the service did: {row.what}"
    return f"the service has the reading {row.decision}={row.reading}, as {row.seen} of {row.of} answers show"


# Conduct --------------------------------------------------------------------------------------------------------------


def conduct(options: Namespace, _environment: Mapping[str, str]) -> Report:
    """Judge what the recorded client does wrong. Raises UsageError and UnusableFileError as `drift` does."""
    report = conduct_report(read_recordings(options.files), load_contract())
    if report is None:
        raise _nothing_to_judge(options.files)
    return report

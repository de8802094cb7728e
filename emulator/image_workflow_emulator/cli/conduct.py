"""The command `conduct`: what the client in recorded traffic does wrong, judged without an emulator running."""

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from image_workflow_emulator.cli.invocation import Invocation, print_json
from image_workflow_emulator.cli.verdict import verdict
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.drift.as_records import RecordedConduct, examine_recording
from image_workflow_emulator.drift.recordings import read_recordings
from image_workflow_emulator.examiner.findings import Finding
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.settings import UsageError


def conduct(call: Invocation) -> int:
    """Judge what the recorded client does wrong."""
    options = call.options
    found = examine_recording(read_recordings(options.files), load_contract())
    if found is None:
        raise UsageError(f"{options.files[-1]}: no exchange is a call of the Image Workflow Service")
    if options.format == "json":
        print_json(_conduct_as_json(found))
    else:
        print("\n".join(map(printable, _conduct_lines(found))))
    return int(bool(found.conduct.errors))


def _conduct_as_json(found: RecordedConduct) -> dict[str, Any]:
    judged = found.conduct
    checked = {rule: number for rule, number in judged.checked.items() if rule not in found.not_checked}
    findings = [
        {**structs.asdict(finding), "where": list(_places(found, finding)), "command": None}
        for finding in judged.findings
    ]
    answer = verdict(_conduct_summary(found), findings, ok=not judged.errors)
    return {**answer, "checked": checked, "not_checked": dict(found.not_checked)}


def _conduct_lines(found: RecordedConduct) -> Iterator[str]:
    yield _conduct_summary(found)
    for finding in found.conduct.findings:
        places = first_of(_places(found, finding), separator="; ")
        yield f"{finding.severity}: {finding.rule}: {finding.message} ({places})"
        yield f"  remedy: {finding.remedy}"
    for rule, reason in found.not_checked.items():
        yield f"not checked: {rule}: {reason}"


def _conduct_summary(found: RecordedConduct) -> str:
    return f"{count_of(len(found.places), 'call')}, {count_of(len(found.conduct.findings), 'finding')}"


def _places(found: RecordedConduct, finding: Finding) -> Iterator[str]:
    return (found.places[number] for number in finding.requests)

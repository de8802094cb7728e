"""`conduct`: what the recorded client of the real service does wrong, without an emulator running."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import structs

from emulator.cli.output import add_format, print_json
from emulator.cli.verdict import verdict
from emulator.kernel.printable import printable
from emulator.kernel.wording import count_of, first_of
from emulator.settings import UsageError

if TYPE_CHECKING:
    from emulator.drift.conduct import RecordedConduct
    from emulator.examiner.findings import Finding


def add_arguments(parser: ArgumentParser) -> None:
    """Take recordings."""
    parser.epilog = (
        "Exit status: 1 if there is an error, 2 if a file cannot be read or holds no call of the service; else 0."
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="a HAR, a VCR.py cassette, or a journal")
    add_format(parser, "text", "json")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Judge, print the findings and return the exit status. Raises UsageError."""
    from emulator.contract import load_contract
    from emulator.drift.conduct import examine_recording
    from emulator.drift.recordings import read_recordings
    from emulator.traffic.exchanges import RecordingError

    try:
        found = examine_recording(read_recordings(options.files), load_contract())
    except RecordingError as error:
        raise UsageError(str(error)) from None
    if found is None:
        raise UsageError(f"{options.files[-1]}: no exchange is a call of the Image Workflow Service")
    if options.format == "json":
        print_json(_as_json(found))
    else:
        print("\n".join(map(printable, _lines(found))))
    return int(bool(found.judgement.conduct.errors))


def _as_json(found: "RecordedConduct") -> dict[str, Any]:
    conduct = found.judgement.conduct
    checked = {rule: number for rule, number in conduct.checked.items() if rule not in found.not_checked}
    findings = [
        {**structs.asdict(finding), "where": list(_places(found, finding)), "command": None}
        for finding in conduct.findings
    ]
    answer = verdict(_summary(found), findings, ok=not conduct.errors)
    return {**answer, "checked": checked, "not_checked": dict(found.not_checked)}


def _summary(found: "RecordedConduct") -> str:
    return f"{count_of(len(found.places), 'call')}, {count_of(len(found.judgement.conduct.findings), 'finding')}"


def _lines(found: "RecordedConduct") -> Iterator[str]:
    conduct = found.judgement.conduct
    yield _summary(found)
    for finding in conduct.findings:
        places = first_of(_places(found, finding), separator="; ")
        yield f"{finding.severity}: {finding.rule}: {finding.message} ({places})"
        yield f"  remedy: {finding.remedy}"
    for rule, reason in found.not_checked.items():
        yield f"not checked: {rule}: {reason}"


def _places(found: "RecordedConduct", finding: "Finding") -> Iterator[str]:
    return (found.places[number] for number in finding.requests)

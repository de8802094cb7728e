"""The command `drift`: which readings of the specification a recorded service has, and what no reading explains.

First each decision is observed by itself. Then the recording is replayed by an emulator with the readings that were
found, and each remaining difference is a breach of the specification, a defect of ours, or something that nobody wrote
down. A first difference silences what depends on it.
"""

import asyncio
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from msgspec import Struct, field
from msgspec.structs import replace

from image_workflow_emulator.client.files import check_writable, write_file
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.domain import readings
from image_workflow_emulator.domain.readings import DECISIONS, NO_READINGS, PLAIN, READINGS
from image_workflow_emulator.drift import observations
from image_workflow_emulator.drift.comparison import Difference, breaches, compare, sizes
from image_workflow_emulator.drift.observations import Seen
from image_workflow_emulator.drift.recordings import leaves, nothing_to_judge, read_recordings
from image_workflow_emulator.drift.replay import Replay, Replayed, is_name
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.scenario.world import readings_of_option
from image_workflow_emulator.settings import SettingError

Verdict = Literal["assumed", "other", "neither", "untold"]
FAILURES: Final = ("other", "neither", "breach", "bug")
"""The verdicts that make the command fail, unless `--fail-on` says otherwise."""
_PIN_HEAD: Final = "# What is known of the real service. Written by `image-workflow-emulator drift --pin`.\n"
_MAX_SHOWN: Final = 20
"""The most exchanges that are named for one decision; a finding names fewer."""
_MAX_PLACES: Final = 3
_CLEAR_SHARE: Final = 0.75
"""The share of the evidence that a reading has to explain where not all of it agrees."""
_OBSERVED: Final = {
    **dict.fromkeys(("D04", "D10", "D14", "D32", "D57"), ("status",)),
    "D33": ("status", *(f"/request/{name}" for name in observations.DEFAULTS)),
    "D37": ("/credits/charged",),
}
"""By decision: where an answer differs if no reading of it explains what the service does."""


class DecisionRow(Struct, frozen=True, omit_defaults=True):
    """What is known of one decision."""

    decision: str = field(name="id")
    verdict: Verdict
    reading: str | None
    """The bare id, `plain` included; None if the verdict is `untold` (undetermined) or `neither`."""
    seen: int
    """How much of the evidence the reading explains."""
    of: int
    """How much evidence there is."""
    last: int
    """The instant of the last evidence."""
    where: tuple[str, ...]
    what: str = ""
    """What was observed that no reading explains."""


def drift(options: Namespace, _environment: Mapping[str, str]) -> Report:
    """Judge which readings of the specification the service has.

    Raises:
        UsageError: nothing can be compared, or an option or a file cannot be used.
        UnusableFileError: a recording cannot be read.
    """
    fail_on = FAILURES if options.fail_on is None else tuple(filter(None, options.fail_on.split(",")))
    for word in set(fail_on) - set(FAILURES):
        raise SettingError("--fail-on", word, f"some of {', '.join(FAILURES)}, with commas between")
    known = readings_of_option(options.readings) if options.readings else NO_READINGS
    pin = check_writable("--pin", options.pin) if options.pin is not None else None
    traffic = Traffic(read_recordings(options.files), load_contract())
    report = judge(traffic, known, options.ignore, fail_on)
    if not report.counts["compared"]:
        raise nothing_to_judge(options.files)
    if pin is not None:
        rows = [row for row in report.details["decisions"] if row.verdict == "other"]
        write_file(pin, _readings_file(rows, Path(options.files[-1]).name))
    return report


def _readings_file(rows: Sequence[DecisionRow], source: str) -> str:
    """Return the readings that were found as a readings file, with the evidence for each."""
    evidence = {
        row.decision: {"seen": row.seen, "of": row.of, "last": format_timestamp(row.last), "from": source}
        for row in rows
    }
    content = {"readings": {row.decision: row.reading for row in rows}, "evidence": evidence}
    return _PIN_HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def judge(
    traffic: Traffic,
    known: readings.Readings = NO_READINGS,
    ignored: Collection[str] = (),
    fail_on: Collection[str] = FAILURES,
) -> Report:
    """Judge a recording: `known` are readings that were found before, `ignored` the decisions to leave out, `fail_on`
    the verdicts that make the command fail.
    """
    fields = {reading.decision: reading.field for reading in READINGS.values()}
    usual = readings.by_decision(known)
    rows = [
        _row(decision, usual.get(decision, PLAIN), getattr(observations, fields[decision])(traffic))
        for decision in DECISIONS
        if decision not in ignored
    ]
    found = [f"{row.decision}={row.reading}" for row in rows if row.verdict == "other"]
    replay = Replay(traffic, ",".join([PLAIN, *readings.chosen(known), *found]))
    replayed = asyncio.run(replay.run())
    kept, silenced = _first_differences(replayed, replay)
    unexplained = {place for row in rows if row.verdict == "neither" for place in _OBSERVED.get(row.decision, ())}
    differences = _folded(one for one in (*kept, *sizes(traffic)) if one.sentence or one.where not in unexplained)
    findings = list(_findings(rows, differences, fail_on))
    left_out = sum(item.answered is None and item.call.surface != "upload" for item in replayed)
    compared, noise = len(replayed) - left_out, traffic.left_aside + silenced + left_out
    assumed = [row.decision for row in rows if row.verdict == "assumed"]
    missing = {row.decision for row in rows if row.verdict == "untold"}
    ledger = shipped_document("contract/decisions.yaml")["decisions"]
    shown_by = [(entry["id"], entry["shown_by"]) for entry in ledger if entry["id"] in missing]
    has_failed = any(finding.severity == "error" for finding in findings)
    return Report(
        kind="drift",
        ok=not has_failed,
        summary=f"{count_of(compared, 'call')} compared, {count_of(len(findings), 'difference')}; "
        f"as assumed: {', '.join(assumed) or 'nothing'}",
        findings=findings,
        counts={"compared": compared, "left_aside": noise},
        checked={row.decision: row.of for row in rows},
        tables=[ReportTable(title="Not in this recording", columns=["decision", "shown by"], rows=shown_by)],
        next=["image-workflow-emulator drift --pin image-workflow.readings.yaml FILE"] if found else [],
        details={
            "compared": compared,
            "decisions": rows,
            "breaches": [one for one in differences if one.verdict == "breach"],
            "bugs": [one for one in differences if one.verdict == "bug"],
            "noise": noise,
        },
        status=int(has_failed),
    )


def _findings(
    rows: Iterable[DecisionRow], differences: Iterable[Difference], fail_on: Collection[str]
) -> Iterator[ReportFinding]:
    for row in rows:
        if row.verdict in FAILURES:
            message = f"no reading explains what the service did: {row.what}"
            if row.reading is not None:
                name = f"{row.decision}={row.reading}"
                message = f"the service has the reading {name}, as {row.seen} of {row.of} answers show"
            yield ReportFinding(
                rule=row.decision,
                severity="error" if row.verdict in fail_on else "warning",
                where=first_of(row.where, _MAX_PLACES, "; "),
                message=message,
                remedy=f"run your tests with --readings {row.decision}={row.reading}" if row.reading else None,
            )
    for one in differences:
        times = f", {one.times} times" if one.times > 1 else ""
        yield ReportFinding(
            rule=one.verdict,
            severity="error" if one.verdict in fail_on else "warning",
            where=f"{one.exchange}, {one.operation} {one.where}",
            message=f"recorded {one.recorded}, expected {one.expected}{times}",
            source=one.sentence or None,
        )


# Evidence -------------------------------------------------------------------------------------------------------------


def _row(decision: str, usual: str, observed: Iterable[Seen]) -> DecisionRow:
    """Weigh the evidence for one decision: the reading that explains most of it, the usual one before others."""
    seen = [one for one in observed if one.fits is not None]
    if not seen:
        return DecisionRow(decision, "untold", None, 0, 0, 0, ())
    possible = dict.fromkeys((usual, PLAIN, *(one.id for one in READINGS.values() if one.decision == decision)))
    counts = {reading: sum(reading in (one.fits or ()) for one in seen) for reading in possible}
    reading = max(counts, key=counts.__getitem__)
    of, last = len(seen), max(one.call.at for one in seen)
    odd = [one for one in seen if not one.fits]
    if odd or counts[reading] < of * _CLEAR_SHARE:
        mixed = ", ".join(f"{reading} {number} times" for reading, number in counts.items() if number)
        what = odd[0].what if odd else f"the service does both: {mixed}"
        return DecisionRow(decision, "neither", None, of, of, last, _places(odd or seen), what)
    places = _places(one for one in seen if reading in (one.fits or ()))
    verdict: Verdict = "assumed" if reading == usual else "other"
    return DecisionRow(decision, verdict, reading, counts[reading], of, last, places)


def _places(seen: Iterable[Seen]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.call.where for one in seen))[:_MAX_SHOWN]


# Differences ----------------------------------------------------------------------------------------------------------


def _first_differences(replayed: Sequence[Replayed], replay: Replay) -> tuple[list[Difference], int]:
    """Return the differences that depend on no earlier one, and the number of calls that were passed over."""
    kept: list[Difference] = []
    doubtful, mentioned, silenced = set[str](), set[str](), 0
    for item in replayed:
        call = item.call
        named, shown, sent = set(_named(call)), set(_names(call.answer)), set(_names(call.body))
        is_silenced = not doubtful.isdisjoint(named | shown | sent)
        found = list(breaches(call) if is_silenced else compare(item, replay))  # breaches depend on nothing else
        kept += [Difference(call.where, call.name, *one) for one in found]
        silenced += is_silenced
        if not is_silenced and not all(sentence for *_, sentence in found):
            doubtful |= named | (shown - mentioned)  # what was mentioned before is not what it makes
        mentioned |= shown | sent
    return kept, silenced


def _folded(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Return differences, equal ones as one with their number: of an operation, or in what the
    specification settles.
    """
    first: dict[Difference, Difference] = {}
    for one in differences:
        kind = replace(one, exchange="", operation="" if one.sentence else one.operation)
        first[kind] = replace(first[kind], times=first[kind].times + 1) if kind in first else one
    return tuple(first.values())


def _named(call: RecordedCall) -> Iterator[str]:
    """Iterate over what a call is about: the resource in its path, its address, its key."""
    yield from call.parameters.values()
    if call.surface is not None:
        yield call.url
    if call.key is not None:
        yield f"key {call.key}"


def _names(value: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the ids and links in a body, except those in the items of a list."""
    whole = {member: inner for member, inner in value.items() if member != "data"}
    return (leaf for name, leaf in leaves(whole) if isinstance(leaf, str) and is_name(name))

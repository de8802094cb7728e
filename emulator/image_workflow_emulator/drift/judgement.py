"""The judgement of a recording: which reading of each decision the service has, and what no reading explains.

First each decision is observed by itself. Then the recording is replayed by an emulator with the readings that were
found, and each remaining difference is a breach of the specification, a defect of ours, or something that nobody wrote
down. A first difference silences what depends on it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.domain import readings
from image_workflow_emulator.domain.readings import DECISIONS, PLAIN, READINGS
from image_workflow_emulator.drift import observations
from image_workflow_emulator.drift.comparison import Difference, breaches, compare, sizes
from image_workflow_emulator.drift.observations import Seen
from image_workflow_emulator.drift.recordings import RecordedExchange, leaves
from image_workflow_emulator.drift.replay import Replay, Replayed, is_name
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic

Verdict = Literal["assumed", "other", "neither", "untold"]
MAX_SHOWN: Final = 20
"""The most exchanges that are named for one decision."""
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


class Judgement(Struct, frozen=True):
    """What was found."""

    compared: int
    """The calls of the service, without those that the emulator could not be asked."""
    rows: tuple[DecisionRow, ...]
    differences: tuple[Difference, ...]
    noise: int
    """Exchanges with other services, calls that could not be asked again, and differences that depend on another."""

    @property
    def readings(self) -> tuple[str, ...]:
        """The names of the readings that were found, such as `D26=always-a-cursor`."""
        return tuple(f"{row.decision}={row.reading}" for row in self.rows if row.verdict == "other")

    def of(self, verdict: str) -> list[Difference]:
        """Return the differences with a verdict: `breach`, `neither` or `bug`."""
        return [one for one in self.differences if one.verdict == verdict]


async def judge(
    exchanges: Sequence[RecordedExchange],
    contract: Contract,
    known: readings.Readings = readings.NO_READINGS,
    ignored: frozenset[str] = frozenset(),
) -> Judgement:
    """Judge a recording. `known` are readings that were found before, `ignored` the decisions to leave out."""
    traffic = Traffic(exchanges, contract)
    fields = {reading.decision: reading.field for reading in READINGS.values()}
    usual = readings.by_decision(known)
    rows = tuple(
        _row(decision, usual.get(decision, PLAIN), getattr(observations, fields[decision])(traffic))
        for decision in DECISIONS
        if decision not in ignored
    )
    found = [f"{row.decision}={row.reading}" for row in rows if row.verdict == "other"]
    replay = Replay(traffic, contract, ",".join([PLAIN, *readings.chosen(known), *found]))
    replayed = await replay.run()
    kept, silenced = _first_differences(replayed, replay)
    unexplained = {place for row in rows if row.verdict == "neither" for place in _OBSERVED.get(row.decision, ())}
    kept = [one for one in (*kept, *sizes(traffic)) if one.sentence or one.where not in unexplained]
    left_out = sum(item.answered is None and item.call.surface != "upload" for item in replayed)
    return Judgement(
        compared=len(replayed) - left_out,
        rows=rows,
        differences=_folded([*kept, *_bugs(replayed)]),
        noise=traffic.left_aside + silenced + left_out,
    )


def _folded(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Return differences, equal ones as one with their number: of an operation, or in what the
    specification settles.
    """
    first: dict[Difference, Difference] = {}
    for one in differences:
        kind = replace(one, exchange="", operation="" if one.sentence else one.operation)
        first[kind] = replace(first[kind], times=first[kind].times + 1) if kind in first else one
    return tuple(first.values())


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
    return tuple(dict.fromkeys(one.call.where for one in seen))[:MAX_SHOWN]


# Differences ----------------------------------------------------------------------------------------------------------


def _first_differences(replayed: Sequence[Replayed], replay: Replay) -> tuple[list[Difference], int]:
    """Return the differences that depend on no earlier one, and how many calls were passed over."""
    kept: list[Difference] = []
    doubtful, mentioned, silenced = set[str](), set[str](), 0
    for item in replayed:
        named, shown, sent = set(_named(item.call)), set(_names(item.call.answer)), set(_names(item.call.body))
        if (named | shown | sent) & doubtful:
            kept += breaches(item.call)  # which depend on nothing else
            silenced += 1
            continue
        found = list(compare(item, replay))
        kept += found
        if any(not difference.sentence for difference in found):
            doubtful |= named | (shown - mentioned)  # what was mentioned before is not what it makes
        mentioned |= shown | sent
    return kept, silenced


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


def _bugs(replayed: Iterable[Replayed]) -> Iterator[Difference]:
    """Iterate over the calls that the emulator failed to answer as it should: defects of ours."""
    for call, answered in replayed:
        is_defect = answered and answered.status == 500 and "emulator-rule" not in answered.headers
        if is_defect and call.code != "internal_error":
            yield Difference(call.where, call.name, "status", str(call.status), "500", is_bug=True)

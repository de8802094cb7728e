"""Readings: the other meanings that the specification leaves open, as switches of a sandbox.

Owns which readings there are, how they are named, and the sets of them. What each one changes stands at the place that
obeys its decision, which asks its field here. The words about them stand in the ledger (`contract/decisions.yaml`),
which a test binds to this table both ways.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct, structs

from emulator.kernel.seed import LARGEST_SEED, Seed

PLAIN: Final = "plain"
Gives = Literal["less", "refuses", "other", "more"]
"""Compared with the emulator's own decision: promises less, takes less, gives another value, or is laxer."""


class Readings(Struct, frozen=True):
    """The reading of each decision. `plain` is what the emulator does unless told otherwise."""

    page_limit: Literal["plain", "clamps"] = "plain"
    text_length: Literal["plain", "short"] = "plain"
    key_binding: Literal["plain", "binds-refusals", "releases"] = "plain"
    key_retention: Literal["plain", "week"] = "plain"
    intent: Literal["plain", "as-sent"] = "plain"
    upload_session: Literal["plain", "short"] = "plain"
    upload_status: Literal["plain", "created"] = "plain"
    stored_format: Literal["plain", "webp"] = "plain"
    file_delivery: Literal["plain", "redirects"] = "plain"
    photo_order: Literal["plain", "unordered"] = "plain"
    last_page: Literal["plain", "always-a-cursor"] = "plain"
    target: Literal["plain", "target-at-once"] = "plain"
    team_credits: Literal["plain", "gross"] = "plain"
    error_members: Literal["plain", "nulls"] = "plain"
    subject_cap: Literal["plain", "refuses"] = "plain"
    defaults: Literal["plain", "required", "other-defaults", "count-ignored"] = "plain"
    pixel_sizes: Literal["plain", "megapixels"] = "plain"
    partial_charge: Literal["plain", "down", "whole"] = "plain"
    concurrency_unit: Literal["plain", "by-output"] = "plain"
    poll_hint: Literal["plain", "no-hint", "rough"] = "plain"
    picture_limit: Literal["plain", "small"] = "plain"
    pause_hint: Literal["plain", "silent"] = "plain"
    location: Literal["plain", "relative"] = "plain"
    first_status: Literal["plain", "skips"] = "plain"
    media_types: Literal["plain", "charset"] = "plain"
    timestamps: Literal["plain", "offset"] = "plain"
    list_freshness: Literal["plain", "lag"] = "plain"
    slot_order: Literal["plain", "shuffled"] = "plain"


NO_READINGS: Final = Readings()


class Reading(Struct, frozen=True):
    """One reading that is not the plain one."""

    decision: str
    id: str
    field: str
    gives: Gives
    is_floor: bool = False
    """Whether its answers leave the contract, though not the specification."""

    @property
    def name(self) -> str:
        """How it is written: `D26=always-a-cursor`."""
        return f"{self.decision}={self.id}"


READINGS: Final[Mapping[str, Reading]] = {
    reading.name: reading
    for reading in (
        Reading("D02", "clamps", "page_limit", "more"),
        Reading("D04", "short", "text_length", "refuses"),
        Reading("D10", "binds-refusals", "key_binding", "refuses"),
        Reading("D10", "releases", "key_binding", "more"),
        Reading("D12", "week", "key_retention", "other"),
        Reading("D14", "as-sent", "intent", "refuses"),
        Reading("D15", "short", "upload_session", "less"),
        Reading("D16", "created", "upload_status", "other"),
        Reading("D18", "webp", "stored_format", "other"),
        Reading("D19", "redirects", "file_delivery", "other"),
        Reading("D22", "unordered", "photo_order", "less"),
        Reading("D26", "always-a-cursor", "last_page", "other"),
        Reading("D27", "target-at-once", "target", "other"),
        Reading("D29", "gross", "team_credits", "other"),
        Reading("D31", "nulls", "error_members", "less"),
        Reading("D32", "refuses", "subject_cap", "refuses"),
        Reading("D33", "required", "defaults", "refuses"),
        Reading("D33", "other-defaults", "defaults", "other"),
        Reading("D33", "count-ignored", "defaults", "more"),
        Reading("D35", "megapixels", "pixel_sizes", "other"),
        Reading("D37", "down", "partial_charge", "other"),
        Reading("D37", "whole", "partial_charge", "other"),
        Reading("D40", "by-output", "concurrency_unit", "less"),
        Reading("D42", "no-hint", "poll_hint", "less"),
        Reading("D42", "rough", "poll_hint", "less"),
        Reading("D57", "small", "picture_limit", "refuses"),
        Reading("D66", "silent", "pause_hint", "less"),
        Reading("D70", "relative", "location", "other"),
        Reading("D71", "skips", "first_status", "other"),
        Reading("D72", "charset", "media_types", "other"),
        Reading("D73", "offset", "timestamps", "other"),
        Reading("D74", "lag", "list_freshness", "less"),
        Reading("D76", "shuffled", "slot_order", "other"),
    )
}
"""Every reading by its name, in the order of the ledger."""

DECISIONS: Final = tuple(dict.fromkeys(reading.decision for reading in READINGS.values()))
"""The decisions that have readings."""

SETS: Final = ("plain", "other", "stingy", "any:SEED")
_FLOOR: Final = "floor"


def chosen(readings: Readings) -> tuple[str, ...]:
    """Return the names of the readings that are not plain, in the order of the ledger."""
    return tuple(name for name, reading in READINGS.items() if getattr(readings, reading.field) == reading.id)


def by_decision(readings: Readings) -> dict[str, str]:
    """Return the ids of the readings that are not plain, by decision, as files and bodies have them."""
    return {READINGS[name].decision: READINGS[name].id for name in chosen(readings)}


def with_readings(names: Iterable[str], base: Readings = NO_READINGS) -> Readings:
    """Return readings with some of them chosen; `D26=plain` takes one back. Raises ValueError for an unknown name."""
    changed: dict[str, str] = {}
    for name in names:
        reading = READINGS.get(name)
        decision, _, identifier = name.partition("=")
        if reading is None and identifier == PLAIN and decision in DECISIONS:
            reading = next(known for known in READINGS.values() if known.decision == decision)
        if reading is None:
            raise ValueError(name)
        changed[reading.field] = identifier
    return structs.replace(base, **changed)


def parse_readings(text: str) -> Readings:
    """Read what `--readings` takes: names and sets with commas between, such as `stingy,D66=silent`.

    A later part overrides an earlier one. `floor` lets the sets contain readings that leave the contract.

    Raises:
        ValueError: the part that is neither a reading nor a set.
    """
    parts = [part.strip() for part in text.split(",")]
    with_floor = _FLOOR in parts
    readings = NO_READINGS
    for part in parts:
        if part != _FLOOR:
            readings = with_readings(_names_of_set(part, with_floor) if "=" not in part else [part], readings)
    return readings


def _names_of_set(name: str, with_floor: bool) -> Iterator[str]:
    """Iterate over the readings of a set. Raises ValueError for an unknown set."""
    word, _, seed = name.partition(":")
    known = [reading for reading in READINGS.values() if with_floor or not reading.is_floor]
    if name == "other":
        wanted = known
    elif name == "stingy":
        wanted = [reading for reading in known if reading.gives in ("less", "refuses")]
    elif word == "any" and seed.isdecimal() and int(seed) <= LARGEST_SEED:
        yield from _mixture(known, Seed(int(seed)))
        return
    elif name == PLAIN:
        wanted = []
    else:
        raise ValueError(name)
    first: dict[str, str] = {}
    for reading in wanted:
        first.setdefault(reading.decision, reading.name)
    yield from first.values()


def _mixture(known: Iterable[Reading], seed: Seed) -> Iterator[str]:
    """Choose for each decision one of its readings or the plain one, by chance."""
    by_decision: dict[str, list[str]] = {}
    for reading in known:
        by_decision.setdefault(reading.decision, [f"{reading.decision}={PLAIN}"]).append(reading.name)
    for decision, names in by_decision.items():
        yield names[seed.number("reading", decision) % len(names)]

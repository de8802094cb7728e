"""Readings: the other meanings that the specification leaves open, as switches of a
sandbox.

Owns which readings there are, how they are named, and the sets of them. What each one
changes is at the place that obeys its decision, which asks its field here. The words
about them are in the ledger (`contract/decisions.yaml`), which a test binds to this
table both ways.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Final, Literal, get_args, get_type_hints

from msgspec import Struct, structs

PLAIN: Final = "plain"
Gives = Literal["less", "refuses", "other", "more"]
"""Compared with the emulator's own decision: promises less, takes less, gives another
value, or is laxer."""


class Readings(Struct, frozen=True):
    """The reading of each decision. `plain` is what the emulator does unless told
    otherwise.

    Each field names its decision, and what each of its readings gives, in their order.
    """

    page_limit: Annotated[Literal["plain", "clamps"], "D02", "more"] = "plain"
    text_length: Annotated[Literal["plain", "short"], "D04", "refuses"] = "plain"
    key_binding: Annotated[
        Literal["plain", "binds-refusals", "releases"], "D10", "refuses", "more"
    ] = "plain"
    key_retention: Annotated[Literal["plain", "week"], "D12", "other"] = "plain"
    intent: Annotated[Literal["plain", "as-sent"], "D14", "refuses"] = "plain"
    upload_session: Annotated[Literal["plain", "short"], "D15", "less"] = "plain"
    upload_status: Annotated[Literal["plain", "created"], "D16", "other"] = "plain"
    stored_format: Annotated[Literal["plain", "webp"], "D18", "other"] = "plain"
    file_delivery: Annotated[Literal["plain", "redirects"], "D19", "other"] = "plain"
    photo_order: Annotated[Literal["plain", "unordered"], "D22", "less"] = "plain"
    last_page: Annotated[Literal["plain", "always-a-cursor"], "D26", "other"] = "plain"
    target: Annotated[Literal["plain", "target-at-once"], "D27", "other"] = "plain"
    team_credits: Annotated[Literal["plain", "gross"], "D29", "other"] = "plain"
    error_members: Annotated[Literal["plain", "nulls"], "D31", "less"] = "plain"
    subject_cap: Annotated[Literal["plain", "refuses"], "D32", "refuses"] = "plain"
    defaults: Annotated[
        Literal["plain", "required", "other-defaults", "count-ignored"],
        "D33",
        "refuses",
        "other",
        "more",
    ] = "plain"
    pixel_sizes: Annotated[Literal["plain", "megapixels"], "D35", "other"] = "plain"
    partial_charge: Annotated[
        Literal["plain", "down", "whole"], "D37", "other", "other"
    ] = "plain"
    concurrency_unit: Annotated[Literal["plain", "by-output"], "D40", "less"] = "plain"
    poll_hint: Annotated[
        Literal["plain", "no-hint", "rough"], "D42", "less", "less"
    ] = "plain"
    picture_limit: Annotated[Literal["plain", "small"], "D57", "refuses"] = "plain"
    pause_hint: Annotated[Literal["plain", "silent"], "D66", "less"] = "plain"
    location: Annotated[Literal["plain", "relative"], "D70", "other"] = "plain"
    first_status: Annotated[Literal["plain", "skips"], "D71", "other"] = "plain"
    media_types: Annotated[Literal["plain", "charset"], "D72", "other"] = "plain"
    timestamps: Annotated[Literal["plain", "offset"], "D73", "other"] = "plain"
    list_freshness: Annotated[Literal["plain", "lag"], "D74", "less"] = "plain"
    slot_order: Annotated[Literal["plain", "shuffled"], "D76", "other"] = "plain"


NO_READINGS: Final = Readings()


class Reading(Struct, frozen=True):
    """One reading that is not the plain one."""

    decision: str
    id: str
    field: str
    gives: Gives

    @property
    def name(self) -> str:
        """How it is written: `D26=always-a-cursor`."""
        return f"{self.decision}={self.id}"


def _readings_in_order() -> Iterator[Reading]:
    """Iterate over the readings that the fields of `Readings` declare."""
    for field, hint in get_type_hints(Readings, include_extras=True).items():
        decision, *gives = hint.__metadata__
        plain, *identifiers = get_args(hint.__origin__)
        assert plain == PLAIN, f"{field}: the first reading is {plain}"
        for identifier, kind in zip(identifiers, gives, strict=True):
            yield Reading(decision, identifier, field, kind)


READINGS: Final[Mapping[str, Reading]] = {
    reading.name: reading for reading in _readings_in_order()
}
"""Every reading by its name, in the order of the ledger."""

_FIELDS: Final[Mapping[str, str]] = {
    reading.decision: reading.field for reading in READINGS.values()
}
"""The field of each decision."""

DECISIONS: Final = tuple(_FIELDS)
"""The decisions that have readings."""

SETS: Final[Mapping[str, tuple[Gives, ...]]] = {
    PLAIN: (),
    "other": ("less", "refuses", "other", "more"),
    "stingy": ("less", "refuses"),
}
"""What the readings of a set give: of each decision it holds the first that gives one
of these."""


def chosen(readings: Readings) -> tuple[str, ...]:
    """Return the names of the readings that are not plain, in the ledger's order."""
    values = structs.asdict(readings)
    return tuple(
        name
        for name, reading in READINGS.items()
        if values[reading.field] == reading.id
    )


def by_decision(readings: Readings) -> dict[str, str]:
    """Return the ids of the readings that are not plain, by decision, as files and
    bodies have them.
    """
    return {READINGS[name].decision: READINGS[name].id for name in chosen(readings)}


def with_readings(names: Iterable[str], base: Readings = NO_READINGS) -> Readings:
    """Return readings with some of them chosen; `D26=plain` takes one back. Raises
    ValueError for an unknown name.
    """
    changed: dict[str, str] = {}
    for name in names:
        decision, _, identifier = name.partition("=")
        field = _FIELDS.get(decision)
        is_reading = identifier == PLAIN or name in READINGS
        if field is None or not is_reading:
            raise ValueError(name)
        changed[field] = identifier
    return structs.replace(base, **changed)


def parse_readings(text: str, readings: Readings = NO_READINGS) -> Readings:
    """Read what `--readings` takes: names and sets with commas between, such as
    `stingy,D66=silent`.

    A later part overrides an earlier one, and `readings` before all.

    Raises:
        ValueError: the part that is neither a reading nor a set.
    """
    for part in text.split(","):
        name = part.strip()
        if "=" in name:
            readings = with_readings([name], readings)
        else:
            readings = with_readings(_names_of_set(name), readings)
    return readings


def _names_of_set(name: str) -> Iterable[str]:
    """Return the readings of a set. Raises ValueError for an unknown set."""
    if name not in SETS:
        raise ValueError(name)
    first_of_decision: dict[str, str] = {}
    for reading in READINGS.values():
        if reading.gives in SETS[name]:
            first_of_decision.setdefault(reading.decision, reading.name)
    return first_of_decision.values()

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


class _Decides(Struct, frozen=True):
    """What a field of `Readings` decides."""

    decision: str
    gives: tuple[Gives, ...]
    """What each of its readings gives, in the order of the field's type."""


class Readings(Struct, frozen=True):
    """The reading of each decision. `plain` is what the emulator does unless told
    otherwise.
    """

    page_limit: Annotated[
        Literal["plain", "clamps"],
        _Decides("D02", gives=("more",)),
    ] = "plain"
    text_length: Annotated[
        Literal["plain", "short"],
        _Decides("D04", gives=("refuses",)),
    ] = "plain"
    key_binding: Annotated[
        Literal["plain", "binds-refusals", "releases"],
        _Decides("D10", gives=("refuses", "more")),
    ] = "plain"
    key_retention: Annotated[
        Literal["plain", "week"],
        _Decides("D12", gives=("other",)),
    ] = "plain"
    intent: Annotated[
        Literal["plain", "as-sent"],
        _Decides("D14", gives=("refuses",)),
    ] = "plain"
    upload_session: Annotated[
        Literal["plain", "short"],
        _Decides("D15", gives=("less",)),
    ] = "plain"
    upload_status: Annotated[
        Literal["plain", "created"],
        _Decides("D16", gives=("other",)),
    ] = "plain"
    stored_format: Annotated[
        Literal["plain", "webp"],
        _Decides("D18", gives=("other",)),
    ] = "plain"
    file_delivery: Annotated[
        Literal["plain", "redirects"],
        _Decides("D19", gives=("other",)),
    ] = "plain"
    photo_order: Annotated[
        Literal["plain", "unordered"],
        _Decides("D22", gives=("less",)),
    ] = "plain"
    last_page: Annotated[
        Literal["plain", "always-a-cursor"],
        _Decides("D26", gives=("other",)),
    ] = "plain"
    target: Annotated[
        Literal["plain", "target-at-once"],
        _Decides("D27", gives=("other",)),
    ] = "plain"
    team_credits: Annotated[
        Literal["plain", "gross"],
        _Decides("D29", gives=("other",)),
    ] = "plain"
    error_members: Annotated[
        Literal["plain", "nulls"],
        _Decides("D31", gives=("less",)),
    ] = "plain"
    subject_cap: Annotated[
        Literal["plain", "refuses"],
        _Decides("D32", gives=("refuses",)),
    ] = "plain"
    defaults: Annotated[
        Literal["plain", "required", "other-defaults", "count-ignored"],
        _Decides("D33", gives=("refuses", "other", "more")),
    ] = "plain"
    pixel_sizes: Annotated[
        Literal["plain", "megapixels"],
        _Decides("D35", gives=("other",)),
    ] = "plain"
    partial_charge: Annotated[
        Literal["plain", "down", "whole"],
        _Decides("D37", gives=("other", "other")),
    ] = "plain"
    concurrency_unit: Annotated[
        Literal["plain", "by-output"],
        _Decides("D40", gives=("less",)),
    ] = "plain"
    poll_hint: Annotated[
        Literal["plain", "no-hint", "rough"],
        _Decides("D42", gives=("less", "less")),
    ] = "plain"
    picture_limit: Annotated[
        Literal["plain", "small"],
        _Decides("D57", gives=("refuses",)),
    ] = "plain"
    pause_hint: Annotated[
        Literal["plain", "silent"],
        _Decides("D66", gives=("less",)),
    ] = "plain"
    location: Annotated[
        Literal["plain", "relative"],
        _Decides("D70", gives=("other",)),
    ] = "plain"
    first_status: Annotated[
        Literal["plain", "skips"],
        _Decides("D71", gives=("other",)),
    ] = "plain"
    media_types: Annotated[
        Literal["plain", "charset"],
        _Decides("D72", gives=("other",)),
    ] = "plain"
    timestamps: Annotated[
        Literal["plain", "offset"],
        _Decides("D73", gives=("other",)),
    ] = "plain"
    list_freshness: Annotated[
        Literal["plain", "lag"],
        _Decides("D74", gives=("less",)),
    ] = "plain"
    slot_order: Annotated[
        Literal["plain", "shuffled"],
        _Decides("D76", gives=("other",)),
    ] = "plain"


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
        (decides,) = hint.__metadata__
        plain, *identifiers = get_args(hint.__origin__)
        assert plain == PLAIN, f"{field}: the first reading is {plain}"
        for identifier, gives in zip(identifiers, decides.gives, strict=True):
            yield Reading(decides.decision, identifier, field, gives)


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
    chosen_readings = [READINGS[name] for name in chosen(readings)]
    return {reading.decision: reading.id for reading in chosen_readings}


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

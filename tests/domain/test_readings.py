"""The names of readings and sets, as `--readings` takes them."""

import pytest

from image_workflow_emulator.domain.readings import READINGS, chosen, parse_readings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ()),
        ("D26=always-a-cursor", ("D26=always-a-cursor",)),
        ("D66=silent, D26=always-a-cursor", ("D26=always-a-cursor", "D66=silent")),
        ("D10=releases,D10=binds-refusals", ("D10=binds-refusals",)),
        ("stingy,plain", chosen(parse_readings("stingy"))),
    ],
)
def test_a_later_part_overrides_an_earlier_one(
    text: str, expected: tuple[str, ...]
) -> None:
    assert chosen(parse_readings(text)) == expected


def test_plain_takes_back_the_reading_of_a_set() -> None:
    others = chosen(parse_readings("other"))

    names = chosen(parse_readings("other,D26=plain,D26=plain"))

    assert list(names) == [name for name in others if not name.startswith("D26")]


def test_other_has_the_first_reading_of_each_decision() -> None:
    first_of_decision: dict[str, str] = {}
    for name, reading in READINGS.items():
        first_of_decision.setdefault(reading.decision, name)

    names = chosen(parse_readings("other"))

    assert set(names) == set(first_of_decision.values())


def test_stingy_has_what_gives_less_or_refuses_and_nothing_else() -> None:
    names = chosen(parse_readings("stingy"))

    assert {READINGS[name].gives for name in names} == {"less", "refuses"}
    assert "D66=silent" in names
    assert "D33=required" in names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "D26",
        "D26=",
        "D26=none",
        "D99=plain",
        "any:7",
        "floor",
        "Plain",
        "d26=plain",
        "D01=plain",
    ],
)
def test_an_unknown_reading_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        parse_readings(text)

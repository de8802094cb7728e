"""How readings are named: alone, in sets, one after another."""

import pytest

from image_workflow_emulator.domain.readings import READINGS, chosen, parse_readings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ()),
        ("D26=always-a-cursor", ("D26=always-a-cursor",)),
        ("D66=silent, D26=always-a-cursor", ("D26=always-a-cursor", "D66=silent")),
        ("D10=releases,D10=binds-refusals", ("D10=binds-refusals",)),
        ("other,D26=plain,D26=plain", tuple(n for n in chosen(parse_readings("other")) if not n.startswith("D26"))),
        ("stingy,plain", chosen(parse_readings("stingy"))),
    ],
)
def test_a_later_part_overrides_an_earlier_one(text: str, expected: tuple[str, ...]) -> None:
    assert expected == chosen(parse_readings(text))


def test_other_has_the_first_reading_of_each_decision() -> None:
    first = {reading.decision: name for name, reading in reversed(list(READINGS.items()))}
    assert set(first.values()) == set(chosen(parse_readings("other")))


def test_stingy_has_what_gives_less_or_refuses_and_nothing_else() -> None:
    names = chosen(parse_readings("stingy"))
    assert {"less", "refuses"} == {READINGS[name].gives for name in names}
    assert "D66=silent" in names
    assert "D33=required" in names


@pytest.mark.parametrize(
    "text", ["", "D26", "D26=", "D26=none", "D99=plain", "any:7", "floor", "Plain", "d26=plain", "D01=plain"]
)
def test_what_is_no_reading_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        parse_readings(text)

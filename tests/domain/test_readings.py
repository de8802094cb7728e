"""The names of readings and sets, as `--readings` takes them."""

import pytest

from image_workflow_emulator.domain.readings import (
    DECISIONS,
    READINGS,
    Reading,
    Readings,
    by_decision,
    chosen,
    parse_readings,
    with_readings,
)


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
    text: str,
    expected: tuple[str, ...],
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


def test_a_reading_is_of_a_decision_and_changes_a_field() -> None:
    assert READINGS["D33=required"] == Reading("D33", "required", "defaults", "refuses")
    assert READINGS["D10=releases"] == Reading("D10", "releases", "key_binding", "more")
    assert READINGS["D10=releases"].name == "D10=releases"
    assert "D33=plain" not in READINGS


def test_decisions_with_readings_come_in_the_order_of_the_ledger() -> None:
    assert list(DECISIONS) == sorted(set(DECISIONS))
    assert {"D02", "D10", "D76"} <= set(DECISIONS)


def test_a_file_has_the_readings_by_their_decisions() -> None:
    readings = Readings(defaults="required", last_page="always-a-cursor")

    assert by_decision(readings) == {"D26": "always-a-cursor", "D33": "required"}


def test_readings_are_chosen_beside_those_that_there_are() -> None:
    base = Readings(defaults="required", location="relative")

    readings = with_readings(["D26=always-a-cursor", "D70=plain"], base)

    assert readings == Readings(defaults="required", last_page="always-a-cursor")


def test_what_is_given_comes_before_what_is_parsed() -> None:
    base = Readings(defaults="required", location="relative")

    readings = parse_readings("D33=other-defaults", base)

    assert readings == Readings(defaults="other-defaults", location="relative")
    assert parse_readings("plain", base) == base

"""Which outcomes a gate accepts."""

from pathlib import Path

import pytest
from msgspec import convert, structs

from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.sweep.gate import (
    Expectation,
    Gate,
    Strictness,
    read_expectations,
)
from image_workflow_emulator.sweep.runs import Run
from tests.sweep.values import MADE_LESS, MADE_TWICE, finding, run

FAILED = run("getTeam#1:rate_limited", "failed")
LASTING = run("getTeam#1+:rate_limited", "failed")
HOPELESS = run("getTeam#1:credential_expired", "failed")
FLAKY = run("getTeam#1:cut", "failed", is_flaky=True)
HUNG = run("getTeam#1:stall", "hung")
DAMAGED = run("getTeam#1:garbled", "damaged", MADE_TWICE)
LESS = run("getTeam#1:internal_error", "damaged", MADE_LESS)
NOT_STRUCK = run("getTeam#9:rate_limited", "not-struck", struck=False)
SURVIVED = run("getTeam#1:slow", "survived")
ALL = [
    FAILED,
    LASTING,
    HOPELESS,
    FLAKY,
    HUNG,
    DAMAGED,
    LESS,
    NOT_STRUCK,
    SURVIVED,
]


@pytest.mark.parametrize(
    ("strict", "failing"),
    [
        ("off", [HUNG, DAMAGED, LESS]),
        ("recoverable", [FAILED, HUNG, DAMAGED, LESS]),
        ("all", [FAILED, LASTING, HOPELESS, FLAKY, HUNG, DAMAGED, LESS]),
    ],
)
def test_a_gate_fails_by_what_its_strictness_forbids(
    strict: Strictness,
    failing: list[Run],
) -> None:
    gate = Gate(strict)

    refused = [run for run in ALL if gate.fails(run)]

    assert failing == refused


def test_a_command_may_fail_by_what_nobody_can_mend_if_it_says_so() -> None:
    gate = Gate()
    reported = structs.replace(HOPELESS, status=1)

    assert not gate.is_weakness(reported)


def test_a_command_that_hides_what_nobody_can_mend_is_a_weakness() -> None:
    gate = Gate()
    hidden = structs.replace(HOPELESS, status=0)

    assert gate.is_weakness(hidden)


@pytest.mark.parametrize(
    ("ended", "outcome"),
    [
        (FAILED, "failed"),
        (HUNG, "hung"),
        (LESS, "made-less"),
    ],
)
def test_an_outcome_that_is_expected_passes(ended: Run, outcome: str) -> None:
    row = {
        "cell": ended.cell,
        "outcome": outcome,
        "reason": "no retry yet",
    }
    expectation = convert(row, Expectation)

    gate = Gate("recoverable", (expectation,))

    assert not gate.fails(ended)
    assert not gate.is_weakness(ended)


def test_less_is_not_expected_where_there_is_another_error() -> None:
    double_spend = finding("double-spend")
    both = run("getTeam#1:cut", "damaged", MADE_LESS, double_spend)
    less_alone = Expectation("*", "made-less", "it may be")

    gate = Gate("off", (less_alone,))

    assert gate.fails(both)


def test_an_expectation_that_did_not_come_true_is_unused() -> None:
    late = Expectation("*:garbled", "failed", "it was so")
    elsewhere = Expectation("createPose#*", "failed", "not called")
    gate = Gate("off", (late, elsewhere))

    unused = gate.unused([DAMAGED])

    assert [late] == unused


def test_expectations_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "expected.yaml"
    file.write_text("- {cell: 'getTeam#1:*', outcome: failed, reason: no retry}\n")

    (expectation,) = read_expectations(str(file))

    assert Expectation("getTeam#1:*", "failed", "no retry") == expectation


def test_damage_cannot_be_expected(tmp_path: Path) -> None:
    file = tmp_path / "expected.yaml"
    file.write_text("- {cell: '*', outcome: damaged, reason: never}\n")

    with pytest.raises(DocumentError, match=r"expected.yaml:1:24: /0/outcome: "):
        read_expectations(str(file))

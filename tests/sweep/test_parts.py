"""What a sweep is made of: the scenario of a cell, the plan, the gate, the causes, and what a journal shows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from image_workflow_emulator.console.reports import json_text
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.sweep.cells import Cell, Plan, by_urgency, cells_of, choose
from image_workflow_emulator.sweep.evidence import calls_of, lives_of, made_twice
from image_workflow_emulator.sweep.runs import Outcome, Run, agreed, is_sure
from image_workflow_emulator.sweep.sweep_report import (
    Gate,
    Swept,
    merged,
    read_expectations,
)

CONTRACT = load_contract()


def run(
    cell: str,
    outcome: Outcome,
    findings: Sequence[Mapping[str, Any]] = (),
    test: str = "",
    **named: Any,
) -> Run:
    """A run of a cell."""
    return Run(
        cell,
        test,
        outcome,
        None if outcome == "hung" else int(outcome == "failed"),
        0.1,
        findings,
        **named,
    )


def entry(operation: str, status: int | None = 200, **more: Any) -> dict[str, Any]:
    """A request of a journal."""
    return {
        "sandbox": "default",
        "sequence": 2,
        "arrived_at": "2026-01-01T00:00:00.000Z",
        "method": "GET" if operation.startswith(("get", "list")) else "POST",
        "path": f"/v1/{operation}",
        "operation": operation,
        "bytes": None,
        "emulator_fault": None,
        "credential": {"id": "cred_1", "team": {"id": "team_1"}},
        "idempotency_key": None,
        "status": status,
        "code": None,
        "replayed": False,
        "lost": False,
        "abandoned": False,
        "committed": False,
        "work": None,
        "rule": None,
        **more,
    }


@pytest.mark.parametrize(
    ("cell", "match", "nth", "then"),
    [
        (
            "getTeam#1:internal_error",
            {"operation": "getTeam"},
            "1",
            {"problem": "internal_error"},
        ),
        (
            "getTeam#2+:rate_limited",
            {"operation": "getTeam"},
            ">=2",
            {"problem": "rate_limited"},
        ),
        (
            "createProduct#2:lost-before-commit",
            {"operation": "createProduct"},
            "2",
            {"network": "reset"},
        ),
        (
            "upload#1:lost-after-commit",
            {"bytes": "upload"},
            "1",
            {"network": "reset", "at": "after_commit"},
        ),
        (
            "getTeam#1:slow",
            {"operation": "getTeam"},
            "1",
            {"network": {"latency": "30s"}, "at": "after_commit"},
        ),
        (
            *(
                "createProduct#1:internal_error-after-commit",
                {"operation": "createProduct"},
                "1",
            ),
            {"problem": "internal_error", "at": "after_commit"},
        ),
        (
            "createPose#3:fail-timed_out",
            {"work": "pose.create"},
            "3",
            {"fail": "timed_out"},
        ),
        (
            "createPose#1:output-1-content_rejected",
            {"work": "pose.create"},
            "1",
            {"outputs": {"1": "content_rejected"}},
        ),
    ],
)
def test_a_cell_is_a_scenario_with_one_rule(
    cell: str, match: object, nth: str, then: object
) -> None:
    scenario = Cell.read(cell).scenario({"createPose": "pose.create"})
    assert [
        {
            "name": cell,
            "match": match,
            "when": {"nth": nth, "per": "team"},
            "then": then,
        }
    ] == scenario["rules"]


def test_every_cell_is_a_scenario_that_can_be_put_in_force() -> None:
    for cell in cells_of({"": [[entry(name) for name in CONTRACT.operations]]})[""]:
        parse_scenario(json.encode(cell.scenario({})), "cell", CONTRACT)


# What a journal shows -------------------------------------------------------------------------------------------------


def test_calls_are_counted_as_a_scenario_counts_them() -> None:
    seen = [
        entry("getTeam", 401, code="credential_revoked"),
        entry("getTeam", 429, code="rate_limited", rule={"name": "own"}),
        entry("getTeam", emulator_fault="internal_error"),
        entry("getTeam", credential={"id": "cred_2", "team": {"id": "team_2"}}),
        entry("getTeam"),
    ]
    assert [("getTeam", 1), ("getTeam", 1), ("getTeam", 2)] == [
        (one.operation, one.number) for one in calls_of(seen)
    ]


def test_a_call_that_was_refused_is_not_refused_by_a_later_check() -> None:
    found = cells_of({"": [[entry("createPose", 422, code="invalid_input")]]})[""]
    faults = {cell.fault for cell, why in found.items() if not why}
    assert ("insufficient_credits" in faults, "rate_limited" in faults) == (False, True)
    assert {cell for cell, why in found.items() if why} <= choose(
        {"": found}, None, ()
    ).left_out.keys()


def test_a_reset_begins_the_journal_of_a_sandbox_again() -> None:
    entries = [
        entry("getTeam", sequence=1),
        entry("getTeam"),
        entry("getTeam", sequence=1, sandbox="b"),
        entry("getTeam", sequence=1),
    ]
    assert [2, 1, 1] == list(map(len, lives_of(entries)))


def product(key: str, **more: Any) -> dict[str, Any]:
    return entry(
        "createProduct", 201, idempotency_key=key, **{"committed": True, **more}
    )


def pose(rule: str) -> dict[str, Any]:
    return entry(
        "createPose",
        202,
        idempotency_key="c",
        committed=True,
        work="op_1",
        rule={"name": rule},
    )


@pytest.mark.parametrize(
    ("journal", "is_found"),
    [
        (
            [product("a", lost=True), product("a", replayed=True, committed=False)],
            False,
        ),
        ([product("a", lost=True), product("b")], True),
        (
            [
                product("a", lost=True),
                product("b"),
                entry("deleteProduct", 204, committed=True),
            ],
            False,
        ),
        ([product("a"), pose("createPose#1:fail-timed_out")], False),
        ([product("a"), pose("own")], True),
    ],
)
def test_more_than_the_clean_run_made_is_made_twice_unless_taken_back(
    journal: list[Any], is_found: bool
) -> None:
    assert is_found == any(made_twice([[product("a")]], [journal]))


def test_tests_that_share_sandboxes_in_another_way_do_not_make_twice() -> None:
    assert not list(
        made_twice([[product("a")], [product("b")]], [[product("a"), product("b")]])
    )


# The plan -------------------------------------------------------------------------------------------------------------


def cells(*calls: str, fault: str = "rate_limited") -> dict[Cell, str]:
    return {Cell.read(f"{call}:{fault}"): "" for call in calls}


def test_one_cell_of_each_class_is_tried_money_first_and_what_nobody_mends_once() -> (
    None
):
    found = cells("getTeam#1", "getTeam#2", "createPose#1", "createPose#2")
    found |= cells("getTeam#1", "createPose#1", fault="credential_expired")
    plan = choose({"": found}, None, ())
    expected = [
        "createPose#1:rate_limited",
        "getTeam#1:rate_limited",
        "createPose#1:credential_expired",
    ]
    assert expected == [str(trial) for trial in plan.cells]
    assert [*cells("getTeam#1", "getTeam#2")] == plan.classes["getTeam:rate_limited"]
    assert cells("getTeam#1", fault="credential_expired").keys() == plan.left_out.keys()
    assert len(found) == len(choose({"": found}, None, ("all",)).cells)
    assert [*cells("getTeam#2")] == list(
        choose({"": found}, "getTeam#2:rate*", ()).cells
    )


def test_each_fault_that_lasts_is_tried_at_one_call_and_one_at_each_operation() -> None:
    calls = ("getTeam#1+", "createPose#1+")
    plan = choose({"": cells(*calls) | cells(*calls, fault="internal_error")}, None, ())
    assert set(cells(*calls) | cells(calls[1], fault="internal_error")) == set(
        plan.cells
    )


def test_each_class_goes_to_the_test_that_has_fewest_and_with_a_glob_to_every_test() -> (
    None
):
    one, two = cells("getTeam#1"), cells("getTeam#1", fault="internal_error")
    both = {"a": one | two, "b": one, "c": one}
    plan = choose(both, None, ())
    assert {"internal_error": "a", "rate_limited": "b"} == {
        trial.fault: trial.test for trial in plan.cells
    }
    assert ["a", "b", "c"] == [
        trial.test for trial in choose(both, "*:rate_limited", ()).cells
    ]


# The results ----------------------------------------------------------------------------------------------------------


def swept(*runs: Run, gate: Gate | None = None, not_run: Sequence[str] = ()) -> Swept:
    """A sweep that has ended so, in which each cell is a class of its own."""
    trials = [*(one.trial for one in runs), *(Cell.read(cell) for cell in not_run)]
    plan = Plan(trials, {trial.class_name: [trial] for trial in trials})
    return Swept(
        plan,
        {one.trial: one for one in runs},
        ["pytest"],
        (),
        gate or Gate(),
        why_stopped="since it was stopped",
    )


TWICE = [
    {"rule": "made-twice", "severity": "error", "message": "2", "remedy": "same key"}
]


def test_one_defect_is_one_cause_with_a_remedy_and_its_section_the_worst_first() -> (
    None
):
    found = swept(
        *(
            run(f"deleteProduct#1:{fault}", "failed", test="a")
            for fault in (
                "lost-after-commit",
                "internal_error",
                "cut",
                "garbled",
                "resource_operation_in_progress",
            )
        ),
        *(
            run(f"completeUpload#1:{code}", "failed")
            for code in ("upload_expired", "upload_not_found", "upload_bytes_conflict")
        ),
        run("getGeneration#1:cut", "failed"),
        run("getGeneration#1:garbled", "hung"),
        run("updatePose#1:resource_operation_in_progress", "failed"),
        *(
            run(f"createProduct#1:{fault}", "damaged", TWICE)
            for fault in ("cut", "lost-after-commit")
        ),
        run("getTeam#1+:rate_limited", "failed"),
        run("getTeam#1+:internal_error", "hung"),
        run("getTeam#1:stall", "hung"),
        run("getTeam#1+:stall", "hung"),  # it suffices that it happens once
    ).causes
    assert [
        (cause.outcome, cause.cells[0].partition("#")[0], len(cause.cells))
        for cause in found
    ] == [
        ("damaged", "createProduct", 2),
        ("hung", "getGeneration", 2),
        ("hung", "getTeam", 1),
        ("hung", "getTeam", 1),
        ("failed", "deleteProduct", 5),
        ("failed", "completeUpload", 3),
        ("failed", "updatePose", 1),
    ]
    assert [found[0].summary, found[1].summary, found[2].summary] == [
        "createProduct: made-twice after cut, lost-after-commit",
        "getGeneration: no end after garbled; no recovery from cut",
        "getTeam: no end after internal_error",
    ]
    assert (found[0].remedy, found[5].remedy) == (
        "same key",
        CATALOGUE["upload_expired"].recovery,
    )
    assert found[4].remedy.endswith("a DELETE that is repeated and finds 404 is done")
    sections = [
        cause.section.removeprefix("docs/survive.md, section ") for cause in found
    ]
    assert sections == ["1", "2", "5", "6", "2", "11", "9"]
    assert (
        found[4].command
        == "image-workflow-emulator sweep --only 'deleteProduct#1:lost-after-commit' --test a -- pytest"
    )


@pytest.mark.parametrize(
    ("again", "is_flaky"),
    [
        (run("getTeam#1:rate_limited", "survived"), True),
        (run("getTeam#1:rate_limited", "failed"), False),
        (run("getTeam#1:rate_limited", "failed", struck=False), True),
        (run("getTeam#1:rate_limited", "damaged", TWICE), False),
    ],
)
def test_a_failure_is_flaky_if_its_repetition_survives_or_fails_without_the_fault(
    again: Run, is_flaky: bool
) -> None:
    assert is_flaky == agreed(FAILED, again).is_flaky


def test_what_chance_can_cause_is_tried_again_but_not_a_client_that_waits_in_vain() -> (
    None
):
    runs = [
        FAILED,
        REFUSED,
        HUNG,
        run("getTeam#1:cut", "hung"),
        run("createProduct#1:cut", "damaged", TWICE),
    ]
    assert [is_sure(one) for one in runs] == [False, True, True, False, False]


FAILED = run("getTeam#1:rate_limited", "failed")
LASTING = run("getTeam#1+:rate_limited", "failed")
REFUSED = run("getTeam#1:credential_expired", "failed")
FLAKY = run("getTeam#1:cut", "failed", is_flaky=True)
HUNG = run("getTeam#1:stall", "hung")
DAMAGED = run("getTeam#1:garbled", "damaged", TWICE)
ALL = [FAILED, LASTING, REFUSED, FLAKY, HUNG, DAMAGED]


@pytest.mark.parametrize(
    ("strict", "failing"),
    [("off", [HUNG, DAMAGED]), ("recoverable", [FAILED, HUNG, DAMAGED]), ("all", ALL)],
)
def test_the_gate_fails_of_what_its_strictness_forbids(
    strict: str, failing: list[Run]
) -> None:
    assert failing == [one for one in ALL if Gate(strict).fails(one)]
    assert [bool(failing)] * len(failing) == [
        swept(one, gate=Gate(strict)).report().status == 1 for one in failing
    ]


def test_what_is_expected_passes_the_gate_but_damage_never_and_what_does_not_occur_is_told(
    tmp_path: Path,
) -> None:
    file = tmp_path / "expected.yaml"
    file.write_text(
        "- {cell: 'getTeam#1:[rs]*', outcome: failed, reason: no retry yet}\n"
        "- {cell: '*:stall', outcome: hung, reason: no limit yet}\n"
        "- {cell: '*:garbled', outcome: failed, reason: it was so}\n"
        "- {cell: 'createPose#*', outcome: failed, reason: not called}\n"
    )
    gate = Gate("recoverable", read_expectations(str(file)))
    runs = [FAILED, HUNG, DAMAGED]
    assert [DAMAGED] == [one for one in runs if gate.fails(one)]
    unused = swept(*runs, gate=gate).report().details["unused_expectations"]
    assert ["*:garbled"] == [one["cell"] for one in unused]
    file.write_text("- {cell: '*', outcome: damaged, reason: never}\n")
    with pytest.raises(DocumentError, match=r"expected.yaml:1:24: /0/outcome: "):
        read_expectations(str(file))


@pytest.mark.parametrize(("least", "status"), [(100.0, 3), (50.0, 0)])
def test_what_was_not_tried_is_one_line_and_fails_a_gate_that_asks_for_more(
    least: float, status: int
) -> None:
    survived, gate = (
        run("getTeam#1:internal_error", "survived"),
        Gate(least_percent=least),
    )
    report = swept(
        survived, gate=gate, not_run=["createUpload#1:rate_limited"]
    ).report()
    assert (status, not status) == (report.status, report.ok)
    assert (
        "incomplete: 1 cell not tried, since it was stopped; 50 % of the classes were tried"
        in report.summary
    )
    assert [{"cell": "createUpload#1:rate_limited", "test": ""}] == report.details[
        "not_run"
    ]


def test_merged_shards_say_what_one_sweep_says(tmp_path: Path) -> None:
    faults = [
        "rate_limited",
        "cut",
        "lost-after-commit",
        "internal_error",
        "stall",
        "garbled",
    ]
    whole = swept(
        *(run(f"createProduct#1:{fault}", "damaged", TWICE) for fault in faults),
        *(run(f"getTeam#1:{fault}", "failed", test="test_a") for fault in faults),
    )
    whole.plan.cells = by_urgency(whole.plan.cells)
    whole.number = 8
    files = []
    for number in range(1, 9):
        plan = whole.plan.shard(number, 8)
        shard = Swept(
            plan,
            {trial: whole.runs[trial] for trial in plan.cells},
            ["pytest"],
            (),
            Gate(),
            f"{number}/8",
        )
        assert shard.percent() == 100
        file = tmp_path / f"{number}.json"
        file.write_text(json_text(shard.report()))
        files.append(str(file))
    assert json_text(merged(files, Gate()).report()) == json_text(whole.report())
    lacking = merged(files[:-1], Gate()).report()
    assert (lacking.ok, "no report of the shards 8/8" in lacking.summary) == (
        False,
        True,
    )
    assert (
        swept(run("getTeam#1:cut", "survived"), not_run=["getTeam#1:stall"])
        .report()
        .status
        == 3
    )

"""The shipped library: every scenario can be used, is found by its name, and together they cover what can go wrong."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from emulator.domain.problems import CATALOGUE
from emulator.domain.resources import WORKFLOWS
from emulator.kernel.timestamps import MINUTE_MS
from emulator.scenario.changes import AdmissionChange
from emulator.scenario.faults.hold import HoldFault
from emulator.scenario.faults.problem import ProblemFault
from emulator.scenario.format import ScenarioError
from emulator.scenario.library import ScenarioLibrary
from emulator.scenario.outcomes import WorkOutcome
from emulator.scenario.rules import RequestRule, WorkRule
from emulator.scenario.scenario import Scenario
from emulator.scenario.world import BUILT_IN_WORLD, world_names
from tests.scenario_files.operations import OPERATIONS
from tests.support.served import ROOT

FOLDER = ROOT / "scenarios"
NAMES = sorted(file.stem for file in FOLDER.iterdir())
UPLOAD_WINDOW_MS = 15 * MINUTE_MS


@pytest.fixture(scope="module")
def library() -> ScenarioLibrary:
    return ScenarioLibrary(FOLDER, OPERATIONS)


@pytest.fixture(scope="module")
def scenarios(library: ScenarioLibrary) -> list[Scenario]:
    return [library.load(name) for name in library.names()]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_tells_people_and_editors_what_they_look_for(name: str, library: ScenarioLibrary) -> None:
    """Its own name, what a good client does, what each rule is for, and its schema."""
    scenario = library.load(name, world_names(BUILT_IN_WORLD))
    assert scenario.name == name
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name)
    assert "good client" in scenario.description
    assert [rule.name for rule in scenario.rules if re.fullmatch(r"rule \d+", rule.name)] == []
    schema = library.text(name).splitlines()[0].removeprefix("# yaml-language-server: $schema=")
    assert (FOLDER / schema).resolve() == ROOT / "contract" / "scenario.schema.json"


def test_the_library_lists_its_scenarios_with_their_descriptions(library: ScenarioLibrary) -> None:
    assert [entry.name for entry in library.entries()] == NAMES
    assert all(entry.description for entry in library.entries())


def codes_of_rules(scenario: Scenario) -> Iterator[str]:
    """The codes that a scenario's rules inject, or bring about by holding and by long work."""
    for rule in scenario.rules:
        match rule:
            case RequestRule(fault=ProblemFault(code=code)):
                yield code
            case RequestRule(fault=HoldFault(duration_ms=duration_ms)):
                yield "upload_expired" if duration_ms > UPLOAD_WINDOW_MS else "idempotency_in_progress"
            case WorkRule(outcome=WorkOutcome(duration_ms=int())) if "pose.update" in rule.match.works:
                yield "resource_operation_in_progress"


CAUSES: dict[str, Callable[[Any], bool]] = {
    "service_unavailable": lambda change: change == AdmissionChange("paused", 10),
    "credential_revoked": lambda change: getattr(change, "state", None) == "revoked",
    "permission_denied": lambda change: getattr(change, "profile", None) == "read_only",
    "credential_expired": lambda change: getattr(change, "expires_at", None) is not None,
    "insufficient_credits": lambda change: getattr(change, "credits", None) is not None,
    "subscription_required": lambda change: getattr(change, "subscription", None) == "inactive",
    "concurrency_limit_reached": lambda change: getattr(change, "concurrency_limit", None) is not None,
    "rate_limited": lambda change: getattr(change, "requests_per_minute", None) is not None,
}


def codes_of_changes(scenario: Scenario) -> Iterator[str]:
    """The codes that a scenario brings about by a change of state."""
    for change in [timed.change for timed in scenario.timeline] + [team.team for team in scenario.world.teams]:
        yield from (code for code, causes in CAUSES.items() if causes(change))


def test_every_error_code_has_a_scenario(scenarios: list[Scenario]) -> None:
    covered = {code for scenario in scenarios for code in (*codes_of_rules(scenario), *codes_of_changes(scenario))}
    assert covered == set(CATALOGUE)


def test_what_can_be_caused_is_not_faked(scenarios: list[Scenario]) -> None:
    faked = {
        rule.fault.code
        for scenario in scenarios
        if scenario.name != "batch-runs-dry"
        for rule in scenario.rules
        if isinstance(rule, RequestRule) and isinstance(rule.fault, ProblemFault)
    }
    causable = {*CAUSES, "idempotency_in_progress", "resource_operation_in_progress"}
    assert faked & causable == set()


def test_every_failure_of_outputs_has_a_scenario(scenarios: list[Scenario]) -> None:
    outcomes = [
        rule.outcome
        for scenario in scenarios
        for rule in scenario.rules
        if isinstance(rule, WorkRule) and rule.match.works & {*WORKFLOWS}
    ]
    assert any(outcome.outputs for outcome in outcomes)
    assert any(outcome.fail for outcome in outcomes)
    assert any(outcome.stall for outcome in outcomes)


def test_an_unknown_name_is_told_with_the_nearest(library: ScenarioLibrary) -> None:
    expected = r'^scenarios: found "flacky-network"; expected the name of a scenario; did you mean "flaky-network"\?$'
    with pytest.raises(ScenarioError, match=expected):
        library.load("flacky-network")


@pytest.mark.parametrize("name", ["../contract/openapi", "", ".", "flaky-network.yaml"])
def test_a_name_is_no_path(name: str, library: ScenarioLibrary) -> None:
    with pytest.raises(ScenarioError, match="expected the name of a scenario"):
        library.text(name)


def test_files_that_are_no_scenarios_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("scenario: a\n")
    (tmp_path / "README.md").write_text("# Scenarios\n")
    assert ScenarioLibrary(tmp_path, OPERATIONS).names() == ["a"]


def test_a_broken_file_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("scenario: broken\nrulez: []\n")
    with pytest.raises(ScenarioError, match=r"^broken\.yaml:2:1: /rulez: found an unknown field"):
        ScenarioLibrary(tmp_path, OPERATIONS).entries()

"""The playbook: what happens to which request, how it counts, and how its counters are kept."""

import pytest

from emulator.kernel.seed import Seed
from emulator.scenario.changes import AdmissionChange, TimedChange
from emulator.scenario.faults.base import NO_FAULT
from emulator.scenario.faults.hold import HoldFault
from emulator.scenario.faults.loss import LossFault
from emulator.scenario.faults.problem import ProblemFault
from emulator.scenario.matching import Nth, RequestFacts, RequestMatch, When, WorkFacts, WorkMatch
from emulator.scenario.outcomes import NO_OUTCOME, WorkOutcome
from emulator.scenario.playbook import AS_USUAL, NOTHING_HAPPENS, Playbook
from emulator.scenario.rules import RequestRule, Rule, WorkRule
from emulator.scenario.scenario import NO_SCENARIO, Scenario

SEED = Seed(0)
BEGAN_AT = 1_000_000
ERROR = ProblemFault("internal_error")
RESET = LossFault("reset")
FAIL = WorkOutcome(fail="timed_out")
GET_TEAM = RequestFacts("getTeam", "team_1", "Demo")
GET_POSE = RequestFacts("getPose", "team_1", "Demo")
UPSCALE = WorkFacts("upscale", "team_1", "Demo")


def playbook(*rules: Rule, seed: Seed = SEED, team: str | None = None) -> Playbook:
    return Playbook(Scenario("test", rules=rules), BEGAN_AT, seed, team)


def fired_numbers(book: Playbook, facts: RequestFacts = GET_TEAM, requests: int = 6) -> list[int]:
    return [number for number in range(1, requests + 1) if book.for_request(facts, BEGAN_AT).fault != NO_FAULT]


def test_an_empty_playbook_lets_everything_go_its_way() -> None:
    book = Playbook(NO_SCENARIO, BEGAN_AT, SEED)
    assert NOTHING_HAPPENS is book.for_request(GET_TEAM, BEGAN_AT)
    assert AS_USUAL is book.for_work(UPSCALE, BEGAN_AT)
    assert (book.scheduled(), book.rules_report()) == ([], [])


def test_nothing_is_an_ordinary_value() -> None:
    assert (NOTHING_HAPPENS.fault, AS_USUAL.outcome) == (NO_FAULT, NO_OUTCOME)


def test_a_rule_acts_on_what_it_means_and_is_named() -> None:
    rule = RequestRule("team", ERROR, RequestMatch(frozenset({"getTeam"})), file="s.yaml", line=7)
    book = playbook(rule)
    decision = book.for_request(GET_TEAM, BEGAN_AT)
    assert (ERROR, rule) == (decision.fault, decision.rule)
    assert NOTHING_HAPPENS is book.for_request(GET_POSE, BEGAN_AT)


def test_the_first_rule_that_is_due_acts() -> None:
    first = RequestRule("first", ERROR, when=When(Nth(2, 2)))
    second = RequestRule("second", RESET, RequestMatch(frozenset({"getTeam"})))
    book = playbook(first, second)
    assert [book.for_request(GET_TEAM, BEGAN_AT).fault for _ in range(3)] == [RESET, ERROR, RESET]


def test_rules_for_every_operation_and_for_one_keep_the_order_of_the_file() -> None:
    one = RequestRule("one", ERROR, RequestMatch(frozenset({"getTeam"})))
    every = RequestRule("every", RESET)
    for rules in ([one, every], [every, one]):
        assert rules[0].fault == playbook(*rules).for_request(GET_TEAM, BEGAN_AT).fault
        assert playbook(*rules).for_request(GET_POSE, BEGAN_AT).fault == RESET


def test_each_rule_counts_every_match_whatever_its_neighbours_do() -> None:
    book = playbook(
        RequestRule("first", ERROR, when=When(Nth(1, 1))),
        RequestRule("second", RESET, when=When(Nth(2, 2))),
        RequestRule("other", HoldFault(1), RequestMatch(frozenset({"getPose"}))),
    )
    decisions = [book.for_request(GET_TEAM, BEGAN_AT) for _ in range(3)]
    assert [ERROR, RESET, NO_FAULT] == [decision.fault for decision in decisions]
    for decision in decisions[1:]:
        decision.mark_fired()
    assert book.rules_report() == [
        {"name": "first", "matched": 3, "fired": 0},
        {"name": "second", "matched": 3, "fired": 1},
        {"name": "other", "matched": 0, "fired": 0},
    ]


@pytest.mark.parametrize(
    ("numbers", "nth"), [([3], Nth(3, 3)), ([2, 3, 4], Nth(2, 4)), ([5, 6], Nth(5)), ([2, 4, 6], Nth(2, None, 2))]
)
def test_an_nth_counts_the_matches_of_its_rule(numbers: list[int], nth: Nth) -> None:
    book = playbook(RequestRule("r", ERROR, RequestMatch(frozenset({"getTeam"})), When(nth)))
    book.for_request(GET_POSE, BEGAN_AT)
    assert numbers == fired_numbers(book)


def test_windows_count_from_the_beginning_of_the_scenario() -> None:
    book = playbook(RequestRule("r", ERROR, when=When(from_ms=1_000, until_ms=2_000)))
    instants = [BEGAN_AT + offset for offset in (999, 1_000, 1_999, 2_000)]
    assert [book.for_request(GET_TEAM, instant).fault for instant in instants] == [NO_FAULT, ERROR, ERROR, NO_FAULT]


def test_chance_follows_from_the_seed() -> None:
    rule = RequestRule("r", ERROR, when=When(probability=0.5))
    histories = [fired_numbers(playbook(rule, seed=Seed(seed)), requests=200) for seed in (1, 1, 2)]
    assert histories[0] == histories[1] != histories[2]
    assert 70 < len(histories[0]) < 130


def test_the_draws_of_one_rule_do_not_depend_on_another() -> None:
    rule = RequestRule("r", ERROR, RequestMatch(frozenset({"getTeam"})), When(probability=0.5))
    other = RequestRule("o", RESET, RequestMatch(frozenset({"getPose"})), When(probability=0.5))
    alone, together = playbook(rule), playbook(other, rule)
    for _ in range(5):
        together.for_request(GET_POSE, BEGAN_AT)
    assert fired_numbers(alone, requests=50) == fired_numbers(together, requests=50)


def test_work_has_rules_of_its_own() -> None:
    book = playbook(
        WorkRule("upscale", FAIL, WorkMatch(frozenset({"upscale"})), When(Nth(2, 2))),
        WorkRule("all", WorkOutcome(stall=True), when=When(Nth(1, 1))),
        RequestRule("request", ERROR),
    )
    outcomes = [book.for_work(UPSCALE, BEGAN_AT).outcome for _ in range(3)]
    assert [WorkOutcome(stall=True), FAIL, NO_OUTCOME] == outcomes
    assert book.for_work(WorkFacts("pose.create", "team_1", "Demo"), BEGAN_AT).outcome == NO_OUTCOME
    assert [row["matched"] for row in book.rules_report()] == [3, 4, 0]


@pytest.mark.parametrize("team", ["Demo", "team_1"])
def test_a_playbook_can_be_limited_to_one_team(team: str) -> None:
    book = playbook(RequestRule("r", ERROR), WorkRule("w", FAIL), team=team)
    assert book.for_request(GET_TEAM, BEGAN_AT).fault == ERROR
    assert book.for_request(RequestFacts("getTeam", "team_2", "Other"), BEGAN_AT).fault == NO_FAULT
    assert book.for_work(UPSCALE, BEGAN_AT).outcome == FAIL
    assert book.for_work(WorkFacts("upscale", "team_2", "Other"), BEGAN_AT).outcome == NO_OUTCOME
    assert [row["matched"] for row in book.rules_report()] == [1, 1]


def test_changes_come_with_their_instants() -> None:
    changes = (TimedChange(0, AdmissionChange("paused", 5)), TimedChange(60_000, AdmissionChange("open")))
    book = Playbook(Scenario("test", timeline=changes), BEGAN_AT, SEED)
    assert [(BEGAN_AT, 0), (BEGAN_AT + 60_000, 1)] == book.scheduled()
    assert (changes[0], BEGAN_AT + 60_000) == book.change(0, BEGAN_AT)
    assert (changes[1], None) == book.change(1, BEGAN_AT + 60_000)


def test_a_restored_playbook_goes_on_where_the_other_stopped() -> None:
    rules = (
        RequestRule("nth", ERROR, when=When(Nth(4, 4))),
        RequestRule("chance", RESET, when=When(probability=0.5)),
    )
    whole, first = playbook(*rules), playbook(*rules)
    history = [whole.for_request(GET_TEAM, BEGAN_AT).fault for _ in range(40)]
    begun = [first.for_request(GET_TEAM, BEGAN_AT).fault for _ in range(15)]
    second = Playbook(first.scenario, first.began_at, first.seed, counts=first.counts)
    assert history == begun + [second.for_request(GET_TEAM, BEGAN_AT).fault for _ in range(25)]
    assert whole.rules_report() == second.rules_report()

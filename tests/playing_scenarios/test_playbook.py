"""What the playbook counts and draws, where requests could only show it in their
thousands.
"""

from image_workflow_emulator.kernel.seed import Seed
from image_workflow_emulator.scenario.matching import Facts
from image_workflow_emulator.scenario.playbook import (
    MAX_SUBJECTS,
    Playbook,
    RuleCounts,
)
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from tests.support.every_operation import CONTRACT


def test_beyond_the_limit_the_subject_not_seen_for_longest_is_forgotten() -> None:
    counts = RuleCounts()
    for number in range(MAX_SUBJECTS):
        counts.count(f"subject {number}")
    counts.count("subject 0")

    counts.count("one more")

    assert len(counts.each) == MAX_SUBJECTS
    assert counts.next_number("subject 0") == 3
    assert counts.next_number("subject 1") == 1
    assert counts.next_number("subject 2") == 2


def test_what_a_fault_draws_does_not_depend_on_the_draw_that_its_rule_has_won() -> None:
    scenario = parse_scenario(
        """
        scenario: luck
        rules:
          - when: {probability: 0.5}
            then: {problem: internal_error}
        """,
        "luck.yaml",
        CONTRACT,
    )
    playbook = Playbook(scenario, 0, Seed(1))
    read = Facts(
        kind="operation",
        name="getTeam",
        team_id="team_1",
        team_name="Demo",
    )

    decisions = [playbook.decide(read, 0) for _ in range(40)]

    draws = [decision.draw for decision in decisions if decision.rule is not None]
    assert min(draws) < 0.25
    assert max(draws) > 0.75

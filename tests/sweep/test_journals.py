"""The calls and the work that a journal shows."""

from msgspec import structs

from image_workflow_emulator.sweep.journals import by_sandbox, calls_of, works_of
from tests.sweep.values import OTHER_TEAM, entry


def test_a_call_counts_once_its_credential_and_rate_were_accepted() -> None:
    journal = [
        entry("getTeam", 401, code="credential_revoked"),
        entry("getTeam", emulator_fault="internal_error"),
        entry("getTeam"),
    ]

    (call,) = calls_of(journal)

    assert journal[2] is call.entry


def test_a_call_that_a_scenario_refused_counts() -> None:
    refused = entry(
        "getTeam",
        429,
        code="rate_limited",
        rule={"name": "own"},
    )
    answered = entry("getTeam")

    calls = calls_of([refused, answered])

    numbers = [call.number for call in calls]
    assert [1, 2] == numbers


def test_calls_are_counted_for_each_team_by_itself() -> None:
    first = entry("getTeam")
    of_other_team = entry("getTeam", credential=OTHER_TEAM)

    calls = calls_of([first, of_other_team])

    numbers = [call.number for call in calls]
    assert [1, 1] == numbers


def test_work_that_is_replayed_counts_once() -> None:
    admitted = entry(
        "createUpscaleGeneration",
        202,
        response_body={"workflow": "upscale", "outputs": [{}]},
    )
    replayed = structs.replace(admitted, replayed=True)

    (work,) = works_of([admitted, replayed])

    assert "upscale" == work.kind
    assert 1 == work.outputs


def test_a_reset_begins_the_journal_of_a_sandbox_again() -> None:
    first = entry("getTeam", sequence=1)
    second = entry("getTeam", sequence=2)
    elsewhere = entry("getTeam", sequence=1, sandbox="b")
    first_after_reset = entry("getTeam", sequence=1)

    journals = by_sandbox([first, second, elsewhere, first_after_reset])

    lengths = [len(journal) for journal in journals]
    assert [2, 1, 1] == lengths

"""What a refusal is made of: its row in the catalogue (section 7), its detail, and what
would have helped.
"""

import pytest

from image_workflow_emulator.domain.problems import (
    CATALOGUE,
    Check,
    Problem,
    Source,
    invalid_input,
    invalid_reference,
    invalid_request,
    key_binding_codes,
    source_of,
)


def test_a_refusal_has_the_status_and_the_check_of_its_code() -> None:
    problem = Problem("insufficient_credits", "3 Credits are missing")

    assert problem.kind is CATALOGUE["insufficient_credits"]
    assert problem.status == 402
    assert problem.check is Check.CREDITS
    assert str(problem) == "3 Credits are missing"


def test_a_refusal_may_come_from_another_check_with_another_status() -> None:
    problem = Problem("invalid_request", "", status=413, check=Check.BODY)

    assert problem.status == 413
    assert problem.check is Check.BODY


def test_a_malformed_part_is_refused_in_words() -> None:
    problem = invalid_request("limit", "none", "a number", "send a number")

    assert problem.code == "invalid_request"
    assert problem.detail == "limit: found none; expected a number"
    assert problem.status == 400
    assert problem.remedy == "send a number"
    assert invalid_request("", "", "", "", 405).status == 405


def test_an_invalid_field_is_refused_with_what_was_found_there() -> None:
    problem = invalid_input("/name", "", "a name")

    assert problem.code == "invalid_input"
    assert problem.detail == '/name: found ""; expected a name'
    assert problem.check is Check.BODY
    assert problem.remedy == "set /name to a name"


def test_an_invalid_body_is_refused_as_a_whole() -> None:
    problem = invalid_input("", 7, "an object")

    assert problem.detail == "(body): found 7; expected an object"
    assert problem.remedy == "set the body to an object"


def test_an_invalid_field_may_have_another_check_with_a_remedy_of_its_own() -> None:
    problem = invalid_input("/name", "", "a name", Check.RULES, "write one")

    assert problem.check is Check.RULES
    assert problem.remedy == "write one"


def test_an_unusable_reference_is_refused_with_its_id() -> None:
    problem = invalid_reference("/pose_id", "x", "a pose", "list the poses")

    assert problem.code == "invalid_reference"
    assert problem.detail == '/pose_id: found "x"; expected a pose'
    assert problem.remedy == "list the poses"
    assert problem.check is Check.REFERENCES


def test_a_check_comes_from_a_section_with_its_decisions() -> None:
    assert source_of(Check.RATE) == Source("8", ("D41", "D42"))
    assert source_of(Check.RATE, "rate_limit_reached") == Source("8", ("D41", "D42"))
    assert source_of(Check.RATE, "no_such_code") == Source("8", ("D41", "D42"))


def test_a_code_may_have_a_source_of_its_own() -> None:
    assert source_of(Check.STATE, "upload_bytes_conflict") == Source("4", ("D16",))


def test_which_refusals_bind_a_key_depends_on_the_reading() -> None:
    definite = key_binding_codes("binds-refusals")

    assert key_binding_codes("plain") == {"insufficient_credits"}
    assert key_binding_codes("releases") == frozenset()
    assert {"insufficient_credits", "not_found", "invalid_reference"} <= definite
    assert "idempotency_key_reused" not in definite


@pytest.mark.parametrize("check", list(Check))
def test_a_check_is_written_as_its_name(check: Check) -> None:
    assert str(check) == check.value
    assert check.source.section

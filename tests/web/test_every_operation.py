"""All operations: that each succeeds as declared, and what is the same for all of them."""

import dataclasses
from collections.abc import Callable, Iterable

import pytest

from tests.support.emulator_client import (
    EXPIRED,
    FULL,
    INVALID_INPUT,
    JSON,
    REVOKED,
    UPLOAD,
    Call,
    EmulatorUnderTest,
    Json,
)
from tests.support.every_operation import CALLS, KEYED, LISTS, prepare

UPDATES = [name for name in KEYED if name.startswith("update")]


MALFORMED = (400, "invalid_request")
FORM = {"Content-Type": "multipart/form-data; boundary=x"}


def asking(query: str) -> Callable[[Call], Json]:
    """Return the change of a call that adds a query."""
    return lambda call: {"target": f"{call.target}?{query}"}


REFUSED: dict[str, tuple[Iterable[str], Callable[[Call], Json], tuple[int, str], str]] = {
    "no credential": (CALLS, lambda _: {"key": None}, (401, "authentication_required"), ""),
    "an unknown one": (CALLS, lambda _: {"key": "iwe_unknown"}, (401, "authentication_required"), ""),
    "one that has expired": (CALLS, lambda _: {"key": EXPIRED}, (401, "credential_expired"), ""),
    "one that was revoked": (CALLS, lambda _: {"key": REVOKED}, (401, "credential_revoked"), ""),
    "no Idempotency-Key": (KEYED, lambda _: {"idempotency_key": None}, MALFORMED, "Idempotency-Key"),
    "a body with a read or a deletion (D44)": (CALLS.keys() - KEYED, lambda _: {"json": {}}, MALFORMED, ""),
    "no body": (KEYED, lambda _: {"json": None, "headers": JSON}, MALFORMED, ""),
    "a form": (KEYED, lambda _: {"headers": FORM}, MALFORMED, "Content-Type"),
    "a patch of nothing (D05)": (UPDATES, lambda _: {"json": {}}, INVALID_INPUT, ""),
    "an unknown field": (KEYED, lambda call: {"json": {**call.json, "colour": "red"}}, INVALID_INPUT, "/colour"),
    "an unknown query parameter (D02)": (CALLS, asking("colour=red"), MALFORMED, "colour"),
    "a limit where no list is (D02)": (CALLS.keys() - LISTS, asking("limit=5"), MALFORMED, "limit"),
}  # fmt: skip
"""For each mistake: the operations that refuse it, the change of their calls, the outcome, and a word of the detail."""


@pytest.mark.parametrize("wrong", REFUSED)
def test_it_is_refused_by_every_operation(emulator: EmulatorUnderTest, wrong: str) -> None:
    operations, change, expected, told = REFUSED[wrong]
    things = prepare(emulator)
    for operation in operations:
        call = CALLS[operation](things)
        answer = emulator.send(dataclasses.replace(call, **change(call)))
        assert (answer.outcome, told in answer.json["detail"]) == (expected, True), operation


def test_an_absent_resource_is_not_found_whatever_its_id_looks_like(emulator: EmulatorUnderTest) -> None:
    """D07."""
    codes = {"assets": "asset_not_found", "products": "product_not_found"}
    for path in ("assets", "products", "photography-styles", "backgrounds", "poses", "fashion-models", "operations"):
        for identifier in ("ast_0", "%00", "%F0%9F%98%80", "..", "a" * 3000, "%2e%2e", "~", "%ff", "a%2Fb", "a%2fb"):
            answer = emulator.get(f"/{path}/{identifier}")
            assert answer.outcome == (404, codes.get(path, "not_found")), (path, identifier)


@pytest.mark.parametrize("value", [f"bearer {FULL}", f"BEARER   {FULL} "])
def test_a_credential_is_bearer_in_any_case_spaces_and_a_key(emulator: EmulatorUnderTest, value: str) -> None:
    assert emulator.get("/team", None, headers={"Authorization": value}).status == 200


@pytest.mark.parametrize(
    "value",
    [
        "", "Bearer", "Bearer ", FULL, f"Basic {FULL}", f"Bearer{FULL}", f"Bearer\t{FULL}", f"Bearer {FULL}x",
        "Bearer \xff\xfe", "Token x",
    ],
)  # fmt: skip
def test_anything_else_is_no_credential(emulator: EmulatorUnderTest, value: str) -> None:
    answer = emulator.get("/team", None, headers={"Authorization": value})
    assert answer.outcome == (401, "authentication_required")


def test_two_credentials_are_none_and_two_idempotency_keys_are_refused(emulator: EmulatorUnderTest) -> None:
    """D48."""
    twice = [("Authorization", f"Bearer {FULL}"), ("Authorization", f"Bearer {FULL}")]
    assert emulator.get("/team", None, headers=twice).outcome == (401, "authentication_required")
    twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "a")]
    assert emulator.post("/uploads", UPLOAD, headers=twice).outcome == MALFORMED


@pytest.mark.parametrize("key", ["", " ", "\t"])
def test_a_blank_idempotency_key_is_none(emulator: EmulatorUnderTest, key: str) -> None:
    assert emulator.post("/uploads", UPLOAD, idempotency_key=key).outcome == (400, "invalid_request")

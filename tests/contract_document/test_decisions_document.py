"""The ledger of decisions as a document, and what the contract cites of it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.contract_check import read_contract

FIELDS = ["id", "title", "specification", "emulator", "client"]


DECISIONS: list[dict[str, str]] = read_contract("decisions.yaml")["decisions"]


def citations(node: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every `x-decision` below a node, with where it stands."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "x-decision":
                yield where, value
            else:
                yield from citations(value, f"{where}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from citations(value, f"{where}/{index}")


def test_decisions_are_numbered_in_order_and_no_number_is_used_twice() -> None:
    ids = [decision["id"] for decision in DECISIONS]
    assert all(re.fullmatch("D[0-9]{2}", number) for number in ids)
    assert sorted({*ids}) == ids


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: decision["id"])
def test_each_decision_says_what_is_specified_what_happens_and_what_to_do(decision: dict[str, str]) -> None:
    assert list(decision) == FIELDS
    assert all(str(text) == text and text.strip() for text in decision.values())


def test_titles_differ() -> None:
    assert len(DECISIONS) == len({decision["title"] for decision in DECISIONS})


def test_the_contract_cites_only_decisions_that_exist() -> None:
    known = {decision["id"] for decision in DECISIONS}
    unknown = {
        where: cited
        for where, cited in citations(read_contract("openapi.yaml"))
        if not {*(cited if isinstance(cited, list) else [cited])} <= known
    }
    assert unknown == {}


def test_the_contract_cites_no_decision_twice_in_one_place() -> None:
    lists = [cited for _, cited in citations(read_contract("openapi.yaml")) if isinstance(cited, list)]
    assert [cited for cited in lists if len(cited) != len({*cited}) or cited != sorted(cited)] == []

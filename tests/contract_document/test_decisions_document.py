"""The ledger of decisions as a document, and what the contract cites of it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.contract_check import ROOT, read_contract

FIELDS = ["id", "title", "specification", "emulator", "client"]


DECISIONS: list[dict[str, Any]] = read_contract("decisions.yaml")["decisions"]
READINGS = [(decision["id"], reading) for decision in DECISIONS for reading in decision.get("readings", ())]


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
def test_each_decision_says_what_is_specified_what_happens_and_what_to_do(decision: dict[str, Any]) -> None:
    texts = {name: text for name, text in decision.items() if name != "readings"}
    assert list(texts) == FIELDS
    assert all(str(text) == text and text.strip() for text in texts.values())
    assert list(decision)[len(FIELDS) :] in ([], ["readings"])


@pytest.mark.parametrize("reading", [reading for _, reading in READINGS], ids=[f"{d}={r['id']}" for d, r in READINGS])
def test_each_reading_says_how_it_differs_what_happens_and_which_mistake_it_finds(reading: dict[str, Any]) -> None:
    assert list(reading) in (fields := ["id", "gives", "emulator", "client"], [*fields, "floor"])
    assert re.fullmatch("[a-z]+(-[a-z]+)*", reading["id"])
    assert reading["gives"] in ("less", "refuses", "other", "more")
    assert all(str(text) == text and text.endswith(".") for text in (reading["emulator"], reading["client"]))
    assert reading.get("floor", True) is True


def test_readings_of_a_decision_differ() -> None:
    assert len(READINGS) == len({(decision, reading["id"]) for decision, reading in READINGS})
    assert len(READINGS) >= 33
    assert [decision["id"] for decision in DECISIONS if decision.get("readings", [None]) == []] == []


def test_every_decision_is_cited_by_a_contract_or_by_the_code() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "emulator").rglob("*.py")]
    texts.append((ROOT / "contract" / "openapi.yaml").read_text(encoding="utf-8"))
    cited = {number for text in texts for number in re.findall(r"\bD[0-9]{2}\b", text)}
    assert {decision["id"] for decision in DECISIONS} - cited == set()


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

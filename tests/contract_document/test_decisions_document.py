"""The ledger of decisions as a document, and what the contract cites of it."""

import re
from collections.abc import Iterator
from typing import Any

from tests.support.contract_check import ROOT, read_contract

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


def test_every_decision_is_cited_by_a_contract_or_by_the_code() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "emulator").rglob("*.py")]
    texts.append((ROOT / "contract" / "openapi.yaml").read_text(encoding="utf-8"))
    cited = {number for text in texts for number in re.findall(r"\bD[0-9]{2}\b", text)}
    assert {decision["id"] for decision in DECISIONS} - cited == set()


def test_the_contract_cites_only_decisions_that_exist() -> None:
    known = {decision["id"] for decision in DECISIONS}
    unknown = {
        where: cited
        for where, cited in citations(read_contract("openapi.yaml"))
        if not {*(cited if isinstance(cited, list) else [cited])} <= known
    }
    assert unknown == {}

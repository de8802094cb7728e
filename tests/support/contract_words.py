"""The words of the contract that other documents repeat: ids of operations and what they lack, problem codes, kinds of work.

`make contract` writes them there; a test holds the documents against it. Knows no more of a document than where its
words stand.
"""

import json
import re
from typing import Any, Final

from emulator.contract import Contract
from emulator.domain.problems import CATALOGUE
from emulator.domain.resources import OPERATION_TYPES, WORKFLOWS
from tests.support.contract_check import ROOT, read_contract

SCENARIO_SCHEMA: Final = ROOT / "contract" / "scenario.schema.json"
SCENARIO_PAGE: Final = ROOT / "docs" / "scenarios.md"
_TABLE: Final = re.compile(r"(?<=\| Resource \| Operation ids \|\n\|---\|---\|\n)(?:\|.*\n)+")


def operation_ids(document: dict[str, Any]) -> dict[str, list[str]]:
    """The ids of the operations, by the tag that they have."""
    ids: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for item in document["paths"].values():
        for operation in item.values():
            ids[operation["tags"][0]].append(operation["operationId"])
    return ids


def scenario_schema(document: dict[str, Any]) -> str:
    """The schema of scenario files, with the words of the contract."""
    schema = json.loads(SCENARIO_SCHEMA.read_text(encoding="utf-8"))
    definitions = schema["$defs"]
    definitions["operation"]["enum"] = [name for ids in operation_ids(document).values() for name in ids]
    operations = Contract(document).operations.values()
    for operation in operations:  # so that one list serves rules about bodies and about keys
        assert (operation.body is None) is not operation.takes_key, f"{operation.id}: a body and a key come together"
    definitions["without_body"]["enum"] = [operation.id for operation in operations if operation.body is None]
    definitions["without_query"]["enum"] = [operation.id for operation in operations if not operation.query]
    definitions["without_resource"]["enum"] = [operation.id for operation in operations if "{" not in operation.path]
    definitions["code"]["enum"] = list(CATALOGUE)
    definitions["work"]["enum"] = [*WORKFLOWS, *OPERATION_TYPES]
    return json.dumps(schema, indent=2) + "\n"


def scenario_page(document: dict[str, Any]) -> str:
    """The page on scenarios, with the table of operation ids."""
    rows = (f"| {tag} | {', '.join(f'`{name}`' for name in ids)} |\n" for tag, ids in operation_ids(document).items())
    return _TABLE.sub("".join(rows), SCENARIO_PAGE.read_text(encoding="utf-8"), count=1)


DOCUMENTS: Final = {SCENARIO_SCHEMA: scenario_schema, SCENARIO_PAGE: scenario_page}
"""What repeats words of the contract, and how it should read."""

if __name__ == "__main__":
    for path, written in DOCUMENTS.items():
        path.write_text(written(read_contract("openapi.yaml")), encoding="utf-8")

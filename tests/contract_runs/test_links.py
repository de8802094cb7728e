"""The contract's links, followed: what one answer tells is what the next request needs."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.contract_runs.seeded_service import SeededService
from tests.support.contract_check import shipped_checker
from tests.support.emulator_client import Answer, Call, Json
from tests.support.pictures import picture

CHECKER = shipped_checker()
WORK_SECONDS = 60
"""Longer than any work takes: what a step has ordered is done before the next."""

OPERATIONS = {described["operationId"]: (method, path, described) for method, path, described in CHECKER.operations()}


def links() -> Iterator[Any]:
    for source, (_, _, described) in OPERATIONS.items():
        for status, response in described["responses"].items():
            for name, link in CHECKER.resolve(response).get("links", {}).items():
                yield pytest.param(source, int(status), name, CHECKER.resolve(link), id=f"{source}-{name}")


@pytest.fixture(scope="module")
def seeded() -> Iterator[SeededService]:
    service = SeededService()
    yield service
    service.close()


@pytest.mark.parametrize(("source", "status", "name", "link"), list(links()))
def test_a_link_leads_from_its_answer_to_a_success(
    seeded: SeededService, source: str, status: int, name: str, link: Json
) -> None:
    seeded.is_changed = True
    seeded.renew()
    ids, target = dict(seeded.ids), link["operationId"]
    for ingredient, operation in seeded.operations.items():
        if target == f"get{''.join(map(str.title, ingredient.split('_')[:-1]))}":
            ids["operation_id"] = operation
    if name == "listOperationsOnTarget":
        pose = f"/poses/{seeded.ids['pose_id']}"
        ids["operation_id"] = seeded.emulator.patch(pose, {"asset_id": seeded.assets[1]}).json["id"]
    answer = next(answer for body in bodies(source) if (answer := call(seeded, source, ids, body)).status == status)
    seeded.emulator.advance(WORK_SECONDS)
    told = {parameter: look_up(answer.json, expression) for parameter, expression in link["parameters"].items()}
    if target == "completeUpload":
        seeded.upload_token = seeded.emulator.send_bytes(answer.json, picture()).json["upload_token"]
    assert call(seeded, target, told, bodies(target)[0]).status < 300


def bodies(operation_id: str) -> list[Json | None]:
    """Return the bodies that the contract shows; none where it takes none."""
    content = OPERATIONS[operation_id][2].get("requestBody", {}).get("content", {}).get("application/json", {})
    return [CHECKER.resolve(example)["value"] for example in content.get("examples", {}).values()] or [None]


def call(service: SeededService, operation_id: str, told: Mapping[str, str], body: Json | None) -> Answer:
    """Call an operation with what is known for its path, or, if it has none, for its query."""
    method, template, _ = OPERATIONS[operation_id]
    path = template.format_map(told)
    if operation_id == "listOperations" and "target_id" in told:
        path += f"?target_id={told['target_id']}"
    if body is not None:
        body = service.resolved_body(body, dict(told))
        if "size_bytes" in body:
            body = {"content_type": "image/png", "size_bytes": len(picture())}
    return service.emulator.send(Call(method, path, body))


def look_up(value: Any, expression: str) -> Any:
    """Evaluate an expression such as `$response.body#/data/0/id`."""
    for step in expression.removeprefix("$response.body#/").split("/"):
        value = value[int(step) if isinstance(value, list) else step]
    assert isinstance(value, str)
    return value

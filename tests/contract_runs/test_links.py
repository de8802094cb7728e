"""The contract's links, followed: what one answer tells is what the next request needs.

Every single link once, and then random walks along them, each walk through a service of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis import Case, GenerationMode, Response

from emulator.contract import enforcing_unique_items, load_contract
from tests.contract_runs.running import IN_PROCESS
from tests.contract_runs.seeded_service import SeededService, check_answer
from tests.support.contract_check import shipped_checker
from tests.support.emulator_client import Answer, Call, Json
from tests.support.pictures import picture

WALKS = 20
STEPS = 8
FEWEST_OUTCOMES = 25
"""Different pairs of operation and status that the walks must have seen, lest they stand still."""
WORK_SECONDS = 60
"""Longer than any work takes: what a step has ordered is done before the next."""


# Every link ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the contract."""

    method: str
    path: str
    described: Mapping[str, Any]

    def bodies(self) -> list[Json | None]:
        """Return the bodies that the contract shows; none where it takes none."""
        content = self.described.get("requestBody", {}).get("content", {}).get("application/json", {})
        examples = content.get("examples", {}).values()
        return [shipped_checker().resolve(example)["value"] for example in examples] or [None]


@dataclass(frozen=True, slots=True)
class Link:
    """A link of one answer of one operation."""

    source: Operation
    status: int
    name: str
    described: Mapping[str, Any]


OPERATIONS = {
    described["operationId"]: Operation(method, path, described)
    for method, path, described in shipped_checker().operations()
}


def links() -> Iterator[Link]:
    resolve = shipped_checker().resolve
    for operation in OPERATIONS.values():
        for status, response in operation.described["responses"].items():
            for name, link in resolve(response).get("links", {}).items():
                yield Link(operation, int(status), name, resolve(link))


@pytest.fixture(scope="module")
def seeded() -> Iterator[SeededService]:
    service = SeededService()
    yield service
    service.close()


@pytest.mark.parametrize(
    "link", [pytest.param(link, id=f"{link.source.described['operationId']}-{link.name}") for link in links()]
)
def test_a_link_leads_from_its_answer_to_a_success(seeded: SeededService, link: Link) -> None:
    seeded.is_changed = True
    seeded.renew()
    answer = ask_for(seeded, link)
    seeded.emulator.advance(WORK_SECONDS)
    told = {name: look_up(answer.json, expression) for name, expression in link.described["parameters"].items()}
    target = OPERATIONS[link.described["operationId"]]
    if target.described["operationId"] == "completeUpload":
        seeded.upload_token = seeded.emulator.send_bytes(answer.json, picture()).json["upload_token"]
    bodies = target.bodies()
    assert call(seeded, target, told, bodies[0]).status < 300


def ask_for(service: SeededService, link: Link) -> Answer:
    """Send a request that is answered with the status and in the state that the link starts from."""
    ids = dict(service.ids)
    for ingredient, operation in service.operations.items():
        if link.described["operationId"] == f"get{''.join(map(str.title, ingredient.split('_')[:-1]))}":
            ids["operation_id"] = operation
    if link.name == "listOperationsOnTarget":
        pose = f"/poses/{service.ids['pose_id']}"
        ids["operation_id"] = service.emulator.patch(pose, {"asset_id": service.assets[1]}).json["id"]
    for body in link.source.bodies():
        answer = call(service, link.source, ids, body)
        if answer.status == link.status:
            return answer
    raise AssertionError(f"no example of {link.source.described['operationId']} is answered with {link.status}")


def call(service: SeededService, operation: Operation, told: Mapping[str, str], body: Json | None) -> Answer:
    """Call an operation with what is known for its path, or, if it has none, for its query."""
    path = operation.path.format_map(told)
    if path == operation.path and "{" not in path and operation.described["operationId"] == "listOperations":
        path += "".join(f"?{name}={value}" for name, value in told.items() if name == "target_id")
    if body is not None:
        body = service.resolved_body(body, dict(told))
        if "size_bytes" in body:
            body = {"content_type": "image/png", "size_bytes": len(picture())}
    return service.emulator.send(Call(operation.method, path, body))


def look_up(value: Any, expression: str) -> Any:
    """Evaluate an expression such as `$response.body#/data/0/id`."""
    for step in expression.removeprefix("$response.body#/").split("/"):
        value = value[int(step) if isinstance(value, list) else step]
    assert isinstance(value, str)
    return value


# Walks ---------------------------------------------------------------------------------------------------------------


class Guide:
    """Remembers what a walk was told and what it deleted, and says where it may go."""

    def __init__(self, service: SeededService) -> None:
        self.service = service
        self.outcomes: set[tuple[str, int]] = set()
        """Operation and status of every step of all walks."""
        self._told: list[str] = []
        self._deleted: set[str] = set()

    def begin(self) -> None:
        """Let a walk begin in a fresh service."""
        self.service.is_changed = True
        self.service.renew()
        self._told.clear()
        self._deleted.clear()

    def lead(self, case: Case[Any]) -> None:
        """Prepare a step: what was ordered before is done, and what is valid leads somewhere."""
        self.service.advance(WORK_SECONDS)
        self.service.direct(case, lambda parameters: self._where_it_leads(case.method, parameters))
        if isinstance(case.body, dict) and "resolution" in case.body:
            case.body["resolution"] = "1k"  # a picture is drawn when a list shows it, and a small one is as good

    def take_note(self, case: Case[Any], response: Response) -> None:
        """Judge a step's answer, and learn from it."""
        check_answer(response)
        assert case.formatted_path not in self._deleted or response.status_code == 404, case
        if case.method == "DELETE" and response.status_code < 300:
            self._deleted.add(case.formatted_path)
        self._told.append(response.text)
        self.outcomes.add((case.operation.label, response.status_code))

    def end(self) -> None:
        """What a walk has deleted must be gone for good."""
        assert [path for path in sorted(self._deleted) if self.service.get_status(path) != 404] == []

    def _where_it_leads(self, method: str, parameters: Json) -> Json:
        """Go where an earlier answer led, also to what is deleted since; otherwise to what exists."""
        known = self.service.resolved_path(parameters)
        return {
            name: value if self._may_be_used(method, name, value) else known[name] for name, value in parameters.items()
        }

    def _may_be_used(self, method: str, name: str, value: object) -> bool:
        """Whether it was told, and is neither premade and about to be changed nor a session without bytes."""
        was_told = any(str(value) in answer for answer in self._told)
        return was_told and name != "upload_id" and (method == "GET" or not self.service.is_premade(value))


def test_walks_along_the_links_keep_to_the_contract() -> None:
    guide = Guide(SeededService())
    walk_along_links(guide, WALKS, STEPS, app=guide.service.emulator.application)
    assert len(guide.outcomes) >= FEWEST_OUTCOMES


def walk_along_links(guide: Guide, walks: int, steps: int, *, base_url: str = IN_PROCESS, app: Any = None) -> None:
    """Walk from answer to answer, wherever the guide leads; it keeps what was met."""
    config = walking_config()
    config.projects.default.update(base_url=base_url)
    contract = enforcing_unique_items(load_contract().document)
    schema = schemathesis.openapi.from_dict(contract, config=config)
    schema.app = app

    class Walk(schema.as_state_machine()):  # type: ignore[misc]  # a class made at run time
        def setup(self) -> None:
            guide.begin()

        def before_call(self, case: Case[Any]) -> None:
            guide.lead(case)

        def after_call(self, response: Response, case: Case[Any]) -> None:
            super().after_call(response, case)
            guide.take_note(case, response)

        def teardown(self) -> None:
            guide.end()

    Walk.run(
        settings=hypothesis.settings(
            max_examples=walks,
            stateful_step_count=steps,
            derandomize=True,
            phases=[hypothesis.Phase.generate],  # to make a failing walk shorter takes minutes
            deadline=None,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
    )
    guide.service.close()


def walking_config() -> schemathesis.Config:
    """The strict configuration, with valid requests only: what is wrong by itself has been tried without walking."""
    config = schemathesis.Config.from_path(Path(__file__).with_name("schemathesis.toml"))
    config.projects.default.checks.positive_data_acceptance.expected_statuses = ["2xx", "404"]  # 404: what is deleted
    # A Product goes with its last Asset (section 3, rule 5); what is deleted, and what is not, the guide keeps book of.
    config.projects.default.checks.ensure_resource_availability.enabled = False
    # Only the contract's own links: what is guessed beside them takes the type of a field for granted.
    config.projects.default.phases.stateful.inference.algorithms = []
    config.projects.default.generation.update(modes=[GenerationMode.POSITIVE])
    return config

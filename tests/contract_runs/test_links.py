"""The contract's links, followed: what one answer tells is what the next request needs.

Every single link once, and then random walks along them, each walk through a service of its own.
"""

from collections.abc import Iterator, Mapping
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

CHECKER = shipped_checker()
FEWEST_OUTCOMES = 25
"""Different pairs of operation and status that the walks must have seen, lest they stand still."""
WORK_SECONDS = 60
"""Longer than any work takes: what a step has ordered is done before the next."""


# Every link ----------------------------------------------------------------------------------------------------------


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
        self.service.emulator.advance(WORK_SECONDS)
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
        assert [path for path in sorted(self._deleted) if self.service.emulator.get(path).status != 404] == []

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


@pytest.mark.parametrize(("walks", "steps"), [(20, 8), pytest.param(150, 12, marks=pytest.mark.verify)])
def test_walks_along_the_links_keep_to_the_contract(walks: int, steps: int) -> None:
    guide = Guide(SeededService())
    config = walking_config()
    config.projects.default.update(base_url=IN_PROCESS)
    contract = enforcing_unique_items(load_contract().document)
    schema = schemathesis.openapi.from_dict(contract, config=config)
    schema.app = guide.service.emulator.application

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
    assert len(guide.outcomes) >= FEWEST_OUTCOMES


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

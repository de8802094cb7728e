"""The contract as a document: complete, consistent, and fit for generators of clients.

Also its decisions, and its examples.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from image_workflow_emulator.documents.values import MAX_INTEGER, MAX_NAME_CHARACTERS
from image_workflow_emulator.domain.limits import TEAM_REQUESTS_PER_MINUTE
from image_workflow_emulator.domain.readings import (
    NO_READINGS,
    PLAIN,
    READINGS,
    Readings,
)
from image_workflow_emulator.kernel.seed import MAX_SEED
from image_workflow_emulator.scenario.world import NEW_TEAM
from tests.support.contract_check import ROOT, STATUSES, ContractChecker, read_contract
from tests.support.contract_examples import told_examples
from tests.support.every_operation import SUCCESSES

DOCUMENT: dict[str, Any] = read_contract("openapi.yaml")
COMPONENTS: dict[str, Any] = DOCUMENT["components"]
SCHEMAS: dict[str, Any] = COMPONENTS["schemas"]
INGREDIENTS = ("PhotographyStyle", "Background", "Pose", "FashionModel")
SECTION_7 = {
    "invalid_request": 400,
    "invalid_cursor": 400,
    "authentication_required": 401,
    "credential_expired": 401,
    "credential_revoked": 401,
    "insufficient_credits": 402,
    "permission_denied": 403,
    "subscription_required": 403,
    "not_found": 404,
    "upload_not_found": 404,
    "asset_not_found": 404,
    "product_not_found": 404,
    "idempotency_in_progress": 409,
    "resource_operation_in_progress": 409,
    "upload_bytes_conflict": 409,
    "upload_expired": 410,
    "invalid_input": 422,
    "invalid_reference": 422,
    "idempotency_key_reused": 422,
    "already_at_target_resolution": 422,
    "concurrency_limit_reached": 429,
    "rate_limited": 429,
    "service_unavailable": 503,
    "internal_error": 500,
}
"""The codes of the specification, with their statuses."""
AUTHORING_CHANGES = {f"update{kind}" for kind in INGREDIENTS}
"""The operations that answer 202 to some changes, and 200 to the others."""
FILTERS = {
    "listAssets": ["source"],
    "listProducts": [],
    "listGenerations": ["workflow", "status"],
    "listOperations": ["status", "type", "target_id"],
    "listPhotographyStyles": ["scope"],
    "listBackgrounds": ["scope"],
    "listPoses": ["scope"],
    "listFashionModels": ["scope"],
}
"""The filters of each list."""
LIMITS = {
    "pattern",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "minProperties",
    "x-unique-items",
    "default",
}
"""The keywords that limit what a request may be."""
OPEN = ContractChecker(DOCUMENT, is_closed=False)
"""Allows fields that are not declared, as the contract by itself does."""
resolve = OPEN.resolve


# Reading the document -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeclaredOperation:
    """An operation of the document."""

    name: str
    method: str
    path: str
    document: dict[str, Any]

    @property
    def is_write(self) -> bool:
        """Whether it takes an Idempotency-Key."""
        return self.method in ("post", "patch")

    @property
    def statuses(self) -> list[str]:
        """The statuses of its answers, in their order; `default` is one of them."""
        return list(self.document["responses"])

    def parameters(self, place: str) -> list[str]:
        """Return the names of its parameters in a place, such as `query`."""
        parameters = [
            resolve(parameter) for parameter in self.document.get("parameters", ())
        ]
        return [
            parameter["name"] for parameter in parameters if parameter["in"] == place
        ]


@dataclass(frozen=True, slots=True)
class DeclaredResponse:
    """A response of an operation, by its status or as `default`."""

    operation: str
    status: str
    document: Mapping[str, Any]

    @property
    def is_problem(self) -> bool:
        return not self.status.startswith("2")

    @property
    def codes(self) -> list[str]:
        """The problem codes that it may have."""
        return list(self.document["x-problem-codes"])


@cache
def operations() -> dict[str, DeclaredOperation]:
    """Return the operations by their ids."""
    declared: dict[str, DeclaredOperation] = {}
    for path, item in DOCUMENT["paths"].items():
        for method, document in item.items():
            name = document["operationId"]
            declared[name] = DeclaredOperation(name, method, path, document)
    return declared


def names_by_method(*methods: str) -> set[str]:
    return {
        operation.name
        for operation in operations().values()
        if operation.method in methods
    }


@cache
def responses() -> list[DeclaredResponse]:
    declared: list[DeclaredResponse] = []
    for name, operation in operations().items():
        for status, response in operation.document["responses"].items():
            declared.append(DeclaredResponse(name, status, resolve(response)))
    return declared


def problems() -> list[DeclaredResponse]:
    return [response for response in responses() if response.is_problem]


def declared_codes() -> dict[str, set[str]]:
    """Return the operations that declare each problem code.

    Left out are the codes of `default`, which any request may get.
    """
    declaring: dict[str, set[str]] = {}
    for response in problems():
        if response.status == "default":
            continue
        for code in response.codes:
            declaring.setdefault(code, set()).add(response.operation)
    return declaring


def request_bodies() -> list[dict[str, Any]]:
    bodies = [
        operation.document.get("requestBody") for operation in operations().values()
    ]
    return [body["content"]["application/json"] for body in bodies if body]


def response_bodies() -> list[dict[str, Any]]:
    bodies: list[dict[str, Any]] = []
    for response in responses():
        bodies += response.document.get("content", {}).values()
    return bodies


def schema_nodes(
    schema: dict[str, Any],
    where: str,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over a schema and all inside it, with their places.

    References are not followed.
    """
    yield where, schema
    for name, inner in schema.get("properties", {}).items():
        yield from schema_nodes(inner, f"{where}/{name}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from schema_nodes(schema[keyword], f"{where}/{keyword}")
    for keyword in ("oneOf", "allOf"):
        for index, inner in enumerate(schema.get(keyword, ())):
            yield from schema_nodes(inner, f"{where}/{keyword}/{index}")


def nodes_of(names: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over all nodes of some schemas."""
    for name in names:
        yield from schema_nodes(SCHEMAS[name], name)


def reachable(media_types: Iterable[dict[str, Any]]) -> set[str]:
    """Return the names of all schemas that bodies refer to, directly or not."""
    waiting = [media_type["schema"]["$ref"] for media_type in media_types]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop().rpartition("/")[2]
        if name in seen:
            continue
        seen.add(name)
        for _place, node in schema_nodes(SCHEMAS[name], name):
            if "$ref" in node:
                waiting.append(node["$ref"])
    return seen


def codes_of(schema: dict[str, Any]) -> list[str]:
    """Return the codes that a problem's schema admits.

    They are the narrowest enum of its `code`, or those of its branches.
    """
    resolved = resolve(schema)
    if "oneOf" not in resolved:
        last_part = resolve(resolved["allOf"][-1])
        return list(resolve(last_part["properties"]["code"])["enum"])
    codes: list[str] = []
    for branch in resolved["oneOf"]:
        codes += codes_of(branch)
    return codes


def bounds_of(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what the fields of a schema may be, without what is said of them."""
    return {name: _bounds_of(field) for name, field in schema["properties"].items()}


def _bounds_of(field: dict[str, Any]) -> dict[str, Any]:
    said = {"description", "default", "x-decision", "x-emulator-only"}
    return {keyword: field[keyword] for keyword in field if keyword not in said}


# Operations ---------------------------------------------------------------------------

EVERY_OPERATION = pytest.mark.parametrize(
    "operation",
    operations().values(),
    ids=lambda operation: operation.name,
)


def test_the_contract_has_the_operations_of_the_specification() -> None:
    assert len(operations()) >= 38


@EVERY_OPERATION
def test_an_operation_declares_the_success_that_the_tests_get(
    operation: DeclaredOperation,
) -> None:
    successes = {status for status in operation.statuses if status.startswith("2")}

    expected = {str(SUCCESSES[operation.name])}
    if operation.name in AUTHORING_CHANGES:
        expected.add("202")
    assert successes == expected


@EVERY_OPERATION
def test_the_last_response_of_an_operation_is_the_default(
    operation: DeclaredOperation,
) -> None:
    assert operation.statuses[-1] == "default"


@EVERY_OPERATION
def test_lists_alone_take_a_query(operation: DeclaredOperation) -> None:
    expected = []
    if operation.name in FILTERS:
        expected = ["limit", "after", *FILTERS[operation.name]]
    assert operation.parameters("query") == expected


def test_every_list_has_its_filters_here() -> None:
    lists = {name for name in operations() if name.startswith("list")}

    assert lists == FILTERS.keys()


@EVERY_OPERATION
def test_creations_and_updates_alone_take_an_idempotency_key(
    operation: DeclaredOperation,
) -> None:
    if operation.is_write:
        assert operation.parameters("header") == ["Idempotency-Key"]
    else:
        assert operation.parameters("header") == []


def test_the_idempotency_key_is_required() -> None:
    assert COMPONENTS["parameters"]["IdempotencyKey"]["required"] is True


@EVERY_OPERATION
def test_creations_and_updates_alone_name_their_cost(
    operation: DeclaredOperation,
) -> None:
    assert ("x-service-credit-cost" in operation.document) == operation.is_write


@EVERY_OPERATION
def test_only_creations_and_updates_have_a_body_which_is_required(
    operation: DeclaredOperation,
) -> None:
    body = operation.document.get("requestBody")

    if body is not None:
        assert operation.is_write
        assert body["required"] is True


def test_the_contract_names_the_limits_that_the_service_has() -> None:
    requests, requests_of_team, concurrency = DOCUMENT["x-service-limits"].values()

    assert requests == NEW_TEAM["requests_per_minute"]
    assert requests_of_team == TEAM_REQUESTS_PER_MINUTE
    assert concurrency == NEW_TEAM["concurrency_limit"]


def test_all_operations_need_the_credential() -> None:
    exceptions = [
        operation.name
        for operation in operations().values()
        if "security" in operation.document
    ]

    assert exceptions == []
    assert DOCUMENT["security"] == [{"apiCredential": []}]
    assert COMPONENTS["securitySchemes"]["apiCredential"]["scheme"] == "bearer"


# Links --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LinkedParameter:
    """A parameter of another operation that a link fills from an answer."""

    answer: Mapping[str, Any]
    operation: str
    name: str
    pointer: str


def linked_parameters() -> list[LinkedParameter]:
    linked: list[LinkedParameter] = []
    for response in responses():
        for reference in response.document.get("links", {}).values():
            link = resolve(reference)
            for name, expression in link["parameters"].items():
                pointer = expression.removeprefix("$response.body#/")
                linked.append(
                    LinkedParameter(
                        response.document,
                        link["operationId"],
                        name,
                        pointer,
                    )
                )
    return linked


def shows(reference: Mapping[str, Any], steps: list[str]) -> bool:
    """Whether what fits a schema can have a value at the end of these steps."""
    if not steps:
        return True
    schema = resolve(reference)
    if "oneOf" in schema:
        return any(shows(branch, steps) for branch in schema["oneOf"])
    step = steps[0]
    if step.isdecimal():
        inner = schema.get("items")
    else:
        inner = schema.get("properties", {}).get(step)
    return inner is not None and shows(inner, steps[1:])


def test_there_are_links() -> None:
    assert len(linked_parameters()) >= 33


def test_links_lead_to_parameters_of_operations() -> None:
    for linked in linked_parameters():
        operation = operations()[linked.operation]
        names = operation.parameters("path") + operation.parameters("query")

        assert linked.name in names


def test_links_lead_from_values_of_their_answer() -> None:
    for linked in linked_parameters():
        schema = linked.answer["content"]["application/json"]["schema"]

        assert shows(schema, linked.pointer.split("/")), linked.pointer


# Headers ------------------------------------------------------------------------------


def answers_with(header: str) -> set[str]:
    """Return the answers that declare a header, such as `createProduct 201`."""
    return {
        f"{response.operation} {response.status}"
        for response in responses()
        if header in response.document["headers"]
    }


@pytest.mark.parametrize("header", ["Request-Id", "Deprecation", "Link", "Sunset"])
def test_every_answer_names_its_exchange_and_its_deprecation(header: str) -> None:
    every = {f"{response.operation} {response.status}" for response in responses()}

    assert answers_with(header) == every


def test_of_these_headers_the_request_id_alone_is_required() -> None:
    headers = COMPONENTS["headers"]

    assert headers["RequestId"]["required"] is True
    assert headers["Deprecation"]["required"] is False
    assert headers["Link"]["required"] is False
    assert headers["Sunset"]["required"] is False


def test_new_assets_products_and_authoring_work_alone_have_a_location() -> None:
    expected = {"completeUpload 201", "createProduct 201"}
    for kind in INGREDIENTS:
        expected |= {f"create{kind} 202", f"update{kind} 202"}

    assert answers_with("Location") == expected


def test_answers_say_when_to_retry_where_waiting_helps() -> None:
    refusals = {
        f"{response.operation} {response.status}"
        for response in responses()
        if response.status in ("429", "503")
    }
    polls = {"getOperation 200", "getGeneration 200"}

    assert answers_with("Retry-After") == refusals | polls


# Problems -----------------------------------------------------------------------------


def problem_document(response: DeclaredResponse) -> dict[str, Any]:
    return dict(response.document["content"]["application/problem+json"])


def test_a_problem_has_an_example_of_each_of_its_codes() -> None:
    for problem in problems():
        examples = problem_document(problem)["examples"]

        assert list(examples) == problem.codes, problem.operation


def test_a_problem_has_the_codes_and_the_status_of_its_schema() -> None:
    for problem in problems():
        if problem.status == "default":
            continue
        schema = problem_document(problem)["schema"]

        assert codes_of(schema) == problem.codes, problem.operation
        statuses = {STATUSES[code] for code in problem.codes}
        assert statuses == {int(problem.status)}, problem.operation


def test_the_default_has_the_codes_that_any_request_may_get() -> None:
    for problem in problems():
        if problem.status != "default":
            continue
        schema = problem_document(problem)["schema"]

        assert problem.codes == [
            "invalid_request",
            "permission_denied",
            "not_found",
            "internal_error",
        ]
        assert set(codes_of(schema)) == STATUSES.keys()


def test_problems_have_the_statuses_of_section_7() -> None:
    assert SECTION_7.items() <= STATUSES.items()


def test_a_problem_requires_its_title_its_detail_and_its_request_id() -> None:
    required = SCHEMAS["ProblemDetails"]["required"]

    assert required == ["title", "detail", "request_id"]


def test_operations_declare_the_codes_that_section_4_lists_and_no_others() -> None:
    every = {*operations()}
    reads = names_by_method("get")
    deletions = names_by_method("delete")
    writes = names_by_method("post", "patch")
    lists = {name for name in every if name.startswith("list")}
    uploads = {"createUpload", "completeUpload"}
    assets = {"getAsset", "deleteAsset"}
    products = {"getProduct", "updateProduct", "deleteProduct"}
    with_id = {name for name in every if "{" in operations()[name].path}
    work = {name for name in every if "202" in operations()[name].statuses}
    free_work = {"createPhotographyStyle", "updatePhotographyStyle"}

    assert declared_codes() == {
        "invalid_request": lists | uploads,
        "invalid_cursor": lists,
        "authentication_required": every,
        "credential_expired": every,
        "credential_revoked": every,
        "insufficient_credits": work - free_work,
        "permission_denied": every - {"getTeam"},
        "subscription_required": writes,
        "not_found": with_id - uploads - assets - products,
        "upload_not_found": {"completeUpload"},
        "asset_not_found": assets,
        "product_not_found": products,
        "idempotency_in_progress": writes,
        "resource_operation_in_progress": deletions | AUTHORING_CHANGES,
        "upload_bytes_conflict": {"completeUpload"},
        "upload_expired": {"completeUpload"},
        "invalid_input": writes,
        "invalid_reference": writes - uploads,
        "idempotency_key_reused": writes,
        "already_at_target_resolution": {"createUpscaleGeneration"},
        "concurrency_limit_reached": work,
        "rate_limited": every,
        "service_unavailable": every - reads,
    }


# Schemas ------------------------------------------------------------------------------


def closed_schemas() -> set[str]:
    return {
        name
        for name, schema in SCHEMAS.items()
        if schema.get("additionalProperties") is False
    }


def test_the_schemas_of_requests_are_closed() -> None:
    objects = {
        name for name, schema in SCHEMAS.items() if schema.get("type") == "object"
    }

    assert closed_schemas() == reachable(request_bodies()) & objects


def test_the_schemas_of_answers_are_open() -> None:
    assert closed_schemas() & reachable(response_bodies()) == set()


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name.endswith("Patch")])
def test_a_patch_needs_a_field_and_bounds_it_as_at_creation(name: str) -> None:
    patch = SCHEMAS[name]
    creation = SCHEMAS[name.replace("Patch", "Write")]

    assert patch["minProperties"] == 1
    assert bounds_of(patch) == bounds_of(creation)


def request_nodes() -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over the schemas of what a client sends, ids in paths left out."""
    yield from nodes_of(reachable(request_bodies()))
    for name, parameter in COMPONENTS["parameters"].items():
        if parameter["in"] != "path":
            yield name, parameter["schema"]


def test_only_limits_are_marked_as_the_emulators_own() -> None:
    for place, node in request_nodes():
        marked = {*node.get("x-emulator-only", ())}

        assert marked <= LIMITS & node.keys(), place


def test_limits_that_the_specification_does_not_have_are_marked() -> None:
    specified: set[str] = set()
    for place, node in request_nodes():
        field = place.rpartition("/")[2]
        unmarked = LIMITS & node.keys() - {*node.get("x-emulator-only", ())}
        specified |= {f"{field} {limit}" for limit in unmarked}

    assert specified == {
        "asset_ids minItems",
        "asset_ids maxItems",
        "fashion_model_ids minItems",
        "fashion_model_ids maxItems",
        "image_count minimum",
        "image_count maximum",
        "size_bytes maximum",
        "hex pattern",
        "Limit maximum",
        "Limit default",
        "supported_camera_distances maxItems",
        "IdempotencyKey minLength",
    }


UNIONS = [
    "BackgroundSelection",
    "FashionModelSelection",
    "PhotographyStyleOrOperation",
    "BackgroundOrOperation",
    "PoseOrOperation",
    "FashionModelOrOperation",
]


def test_these_are_all_unions() -> None:
    unions = {
        place
        for place, node in nodes_of(SCHEMAS)
        if "oneOf" in node and {"type": "null"} not in node["oneOf"]
    }

    assert unions == {*UNIONS, "AuthoringConflictProblem"}


@pytest.mark.parametrize("name", UNIONS)
def test_a_union_says_how_to_tell_its_branches_apart(name: str) -> None:
    union = SCHEMAS[name]

    discriminator = union["discriminator"]
    mapping = discriminator["mapping"]
    assert [{"$ref": reference} for reference in mapping.values()] == union["oneOf"]
    for word, reference in mapping.items():
        branch = resolve({"$ref": reference})
        field = branch["properties"][discriminator["propertyName"]]
        assert field["type"] == "string"
        assert field["const"] == word
        assert discriminator["propertyName"] in branch["required"]


def test_the_branches_of_a_conflict_are_told_apart_by_their_codes() -> None:
    conflict = SCHEMAS["AuthoringConflictProblem"]

    branch_of_code: dict[str, str] = {}
    for branch in conflict["oneOf"]:
        for code in codes_of(branch):
            branch_of_code[code] = branch["$ref"]
    assert conflict["discriminator"]["mapping"] == branch_of_code


def resource_schemas() -> dict[str, dict[str, Any]]:
    return {
        name: schema
        for name, schema in SCHEMAS.items()
        if "object" in schema.get("properties", ())
    }


def test_there_are_schemas_of_resources() -> None:
    assert len(resource_schemas()) >= 12


@pytest.mark.parametrize("name", resource_schemas())
def test_a_resource_has_every_field_that_the_specification_promises(name: str) -> None:
    not_promised = {
        "Product": {"description", "dimensions"},
        "Generation": {"resolved_asset_ids"},
    }
    schema = SCHEMAS[name]

    optional = schema["properties"].keys() - {*schema["required"]}

    assert optional == not_promised.get(name, set())


@pytest.mark.parametrize(
    "field",
    ["initiated_by", "output_summary", "credits", "request"],
)
def test_what_section_2_does_not_show_of_a_generation_is_left_open(field: str) -> None:
    schema = SCHEMAS["Generation"]["properties"][field]

    assert schema.keys() == {"description", "x-decision"}


@pytest.mark.parametrize(
    ("text", "is_timestamp"),
    [
        ("2026-01-01T00:00:00.000Z", True),
        ("2026-01-01T00:00:00.000+00:00", True),
        ("2026-01-01T00:00:00Z", False),
        ("2026-01-01T00:00:00.000+01:00", False),
        ("2026-02-30T00:00:00.000Z", False),
    ],
)
def test_timestamps_have_milliseconds_and_are_in_utc(
    text: str,
    is_timestamp: bool,
) -> None:
    validator = OPEN.validator("#/components/schemas/Timestamp")

    assert validator.is_valid(text) == is_timestamp


# Decisions ----------------------------------------------------------------------------

DECISIONS: list[dict[str, Any]] = read_contract("decisions.yaml")["decisions"]


DECISION_IDS = [decision["id"] for decision in DECISIONS]


def decisions_cited_in(text: str) -> set[str]:
    return {*re.findall(r"\bD[0-9]{2}\b", text)}


def contract_text() -> str:
    return (ROOT / "contract" / "openapi.yaml").read_text(encoding="utf-8")


def test_decisions_are_numbered_in_order_and_once() -> None:
    for number in DECISION_IDS:
        assert re.fullmatch("D[0-9]{2}", number)
    assert sorted({*DECISION_IDS}) == DECISION_IDS


def test_the_contract_cites_decisions_that_there_are() -> None:
    assert decisions_cited_in(contract_text()) <= {*DECISION_IDS}


def test_every_decision_is_cited_by_the_contract_or_the_code() -> None:
    cited = decisions_cited_in(contract_text())
    for file in (ROOT / "emulator").rglob("*.py"):
        cited |= decisions_cited_in(file.read_text(encoding="utf-8"))

    assert {*DECISION_IDS} <= cited


def test_the_code_has_each_reading_of_the_ledger_and_no_other() -> None:
    in_ledger: list[tuple[str, str]] = []
    for decision in DECISIONS:
        for reading in decision.get("readings", ()):
            name = f"{decision['id']}={reading['id']}"
            in_ledger.append((name, reading["gives"]))

    in_code = [(reading.name, reading.gives) for reading in READINGS.values()]
    assert in_code == in_ledger


def test_each_field_of_the_readings_belongs_to_one_decision() -> None:
    decisions = {reading.field: reading.decision for reading in READINGS.values()}

    assert decisions.keys() == set(Readings.__struct_fields__)
    assert len(decisions) == len(set(decisions.values()))


@pytest.mark.parametrize("field", Readings.__struct_fields__)
def test_without_readings_each_decision_is_read_plainly(field: str) -> None:
    assert getattr(NO_READINGS, field) == PLAIN


# The documents ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["openapi.yaml", "control-plane.yaml"])
def test_a_contract_is_valid_openapi(name: str) -> None:
    # Takes seconds, which each worker would spend when it collects the tests.
    from openapi_spec_validator import OpenAPIV31SpecValidator

    errors = OpenAPIV31SpecValidator(read_contract(name)).iter_errors()

    assert [error.message for error in errors] == []


def test_bounds_of_the_control_plane_are_those_of_the_code() -> None:
    schemas = read_contract("control-plane.yaml")["components"]["schemas"]

    assert schemas["Count"]["maximum"] == MAX_INTEGER
    assert schemas["PositiveCount"]["maximum"] == MAX_INTEGER
    assert schemas["Line"]["maxLength"] == MAX_NAME_CHARACTERS
    assert schemas["SandboxWrite"]["properties"]["seed"]["maximum"] == MAX_SEED


def test_the_examples_are_what_the_emulator_answers() -> None:
    in_contract = COMPONENTS["examples"]

    answered = told_examples()

    assert list(answered) == list(in_contract)
    for name, example in answered.items():
        assert without_sizes(example) == without_sizes(in_contract[name]), (
            f"{name} has changed; run: make contract"
        )


def without_sizes(value: Any) -> Any:
    """Return an example without the sizes of files.

    Another version of a library may change them.
    """
    if isinstance(value, list):
        return [without_sizes(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: without_sizes(item)
        for name, item in value.items()
        if name != "size_bytes"
    }

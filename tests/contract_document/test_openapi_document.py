"""The contract as a document: complete, consistent with itself, fit for client generators; its ledger and examples."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

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
    code: status
    for status, codes in {
        400: "invalid_request invalid_cursor",
        401: "authentication_required credential_expired credential_revoked",
        402: "insufficient_credits",
        403: "permission_denied subscription_required",
        404: "not_found upload_not_found asset_not_found product_not_found",
        409: "idempotency_in_progress resource_operation_in_progress upload_bytes_conflict",
        410: "upload_expired",
        422: "invalid_input invalid_reference idempotency_key_reused already_at_target_resolution",
        429: "concurrency_limit_reached rate_limited",
        503: "service_unavailable",
        500: "internal_error",
    }.items()
    for code in codes.split()
}
"""The codes of the specification, with their statuses."""
AUTHORING_CHANGES = {f"update{kind}" for kind in INGREDIENTS}
"""The operations that answer 202 to some changes, and 200 to the others."""
OPEN = ContractChecker(DOCUMENT, is_closed=False)
"""Allows fields that are not declared, as the contract by itself does."""
resolve = OPEN.resolve


@cache
def operations() -> dict[str, tuple[str, str, dict[str, Any]]]:
    return {
        operation["operationId"]: (method, path, operation)
        for path, item in DOCUMENT["paths"].items()
        for method, operation in item.items()
    }


def parameters(name: str, place: str) -> list[str]:
    found = [
        resolve(parameter) for parameter in operations()[name][2].get("parameters", ())
    ]
    return [parameter["name"] for parameter in found if parameter["in"] == place]


@cache
def responses() -> list[tuple[str, str, Mapping[str, Any]]]:
    return [
        (name, status, resolve(response))
        for name, (_, _, operation) in operations().items()
        for status, response in operation["responses"].items()
    ]


@cache
def problems() -> list[tuple[str, str, Mapping[str, Any]]]:
    return [
        (name, status, response)
        for name, status, response in responses()
        if not status.startswith("2")
    ]


def bodies() -> list[dict[str, Any]]:
    found = (operation.get("requestBody") for _, _, operation in operations().values())
    return [body["content"]["application/json"] for body in found if body]


def answers() -> list[dict[str, Any]]:
    return [
        media_type
        for _, _, response in responses()
        for media_type in response.get("content", {}).values()
    ]


def schema_nodes(
    schema: dict[str, Any], where: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A schema and all schemas inside it, not following references."""
    yield where, schema
    for name, inner in schema.get("properties", {}).items():
        yield from schema_nodes(inner, f"{where}/{name}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from schema_nodes(schema[keyword], f"{where}/{keyword}")
    for keyword in ("oneOf", "allOf"):
        for index, inner in enumerate(schema.get(keyword, ())):
            yield from schema_nodes(inner, f"{where}/{keyword}/{index}")


def reachable(media_types: Iterable[dict[str, Any]]) -> set[str]:
    """The names of all schemas that bodies refer to, directly or through others."""
    waiting, seen = (
        [media_type["schema"]["$ref"] for media_type in media_types],
        set[str](),
    )
    while waiting:
        name = waiting.pop().rpartition("/")[2]
        if name not in seen:
            seen.add(name)
            waiting += [
                node["$ref"]
                for _, node in schema_nodes(SCHEMAS[name], name)
                if "$ref" in node
            ]
    return seen


def codes_of(schema: dict[str, Any]) -> list[str]:
    """The codes that a problem's schema admits: the narrowest enum of its `code`, or those of its branches."""
    if "oneOf" in resolve(schema):
        return [
            code for branch in resolve(schema)["oneOf"] for code in codes_of(branch)
        ]
    parts = [resolve(part) for part in resolve(schema)["allOf"]]
    narrowed: list[str] = resolve(parts[-1]["properties"]["code"])["enum"]
    return narrowed


def bounds_of(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the fields of a schema may be, without what is said of them."""
    said = {"description", "default", "x-decision", "x-emulator-only"}
    return {
        name: {
            keyword: value for keyword, value in field.items() if keyword not in said
        }
        for name, field in schema["properties"].items()
    }


class TestOperations:
    def test_are_those_that_the_tests_call_and_succeed_as_there(self) -> None:
        assert len(operations()) >= 38, "those of the specification"
        for name, (_, _, operation) in operations().items():
            *statuses, default = operation["responses"]
            later = {"202"} if name in AUTHORING_CHANGES else set()
            assert {str(SUCCESSES[name])} | later == {
                status for status in statuses if status < "300"
            }
            assert default == "default"

    def test_take_a_query_where_they_list(self) -> None:
        filters = {
            "listAssets": ["source"],
            "listProducts": [],
            "listGenerations": ["workflow", "status"],
        }
        filters |= {"listOperations": ["status", "type", "target_id"]}
        for name in operations():
            expected = (
                ["limit", "after", *filters.get(name, ["scope"])]
                if name.startswith("list")
                else []
            )
            assert expected == parameters(name, "query")

    def test_require_an_idempotency_key_and_name_their_cost_when_they_create_or_update(
        self,
    ) -> None:
        for name, (method, _, operation) in operations().items():
            is_write = method in ("post", "patch")
            assert ["Idempotency-Key"] * is_write == parameters(name, "header")
            assert is_write == ("x-service-credit-cost" in operation)
            assert is_write or "requestBody" not in operation
            assert operation.get("requestBody", {"required": True})["required"]
        assert COMPONENTS["parameters"]["IdempotencyKey"]["required"] is True

    def test_name_the_limits_that_the_service_has(self) -> None:
        limits = (
            NEW_TEAM["requests_per_minute"],
            TEAM_REQUESTS_PER_MINUTE,
            NEW_TEAM["concurrency_limit"],
        )
        assert limits == tuple(DOCUMENT["x-service-limits"].values())

    def test_need_the_credential_all_of_them(self) -> None:
        assert DOCUMENT["security"] == [{"apiCredential": []}]
        assert COMPONENTS["securitySchemes"]["apiCredential"]["scheme"] == "bearer"
        assert [
            name
            for name, (_, _, operation) in operations().items()
            if "security" in operation
        ] == []


def shows(reference: Mapping[str, Any], steps: list[str]) -> bool:
    """Whether what fits a schema can have a value at the end of these steps."""
    schema = resolve(reference)
    if "oneOf" in schema:
        return any(shows(branch, steps) for branch in schema["oneOf"])
    step, *rest = steps or [""]
    inner = (
        schema.get("items")
        if step.isdecimal()
        else schema.get("properties", {}).get(step)
    )
    return not steps or (inner is not None and shows(inner, rest))


class TestLinks:
    def test_lead_from_a_value_of_their_answer_to_a_parameter_of_an_operation(
        self,
    ) -> None:
        found = [
            (answer, resolve(link))
            for _, _, answer in responses()
            for link in answer.get("links", {}).values()
        ]
        assert len(found) >= 33
        for answer, link in found:
            known = [
                name
                for place in ("path", "query")
                for name in parameters(link["operationId"], place)
            ]
            for name, expression in link["parameters"].items():
                assert name in known
                steps = expression.removeprefix("$response.body#/").split("/")
                assert shows(answer["content"]["application/json"]["schema"], steps), (
                    link
                )


class TestHeaders:
    @staticmethod
    def having(header: str) -> set[tuple[str, str]]:
        return {
            (name, status)
            for name, status, response in responses()
            if header in response["headers"]
        }

    def test_name_the_exchange_and_its_deprecation_on_every_answer(self) -> None:
        everywhere = {(name, status) for name, status, _ in responses()}
        for name, is_required in {
            "Request-Id": True,
            "Deprecation": False,
            "Link": False,
            "Sunset": False,
        }.items():
            assert everywhere == self.having(name)
            assert (
                is_required == COMPONENTS["headers"][name.replace("-", "")]["required"]
            )

    def test_locate_new_assets_products_and_authoring_work_and_nothing_else(
        self,
    ) -> None:
        work = {
            (f"{verb}{kind}", "202")
            for verb in ("create", "update")
            for kind in INGREDIENTS
        }
        assert {
            ("completeUpload", "201"),
            ("createProduct", "201"),
        } | work == self.having("Location")

    def test_say_when_to_retry_where_waiting_helps(self) -> None:
        refused = {
            (name, status)
            for name, status, _ in responses()
            if status in ("429", "503")
        }
        assert refused | {
            ("getOperation", "200"),
            ("getGeneration", "200"),
        } == self.having("Retry-After")


class TestProblems:
    def test_carry_the_codes_of_their_schema(self) -> None:
        for _, status, response in problems():
            media_type, codes = (
                response["content"]["application/problem+json"],
                response["x-problem-codes"],
            )
            assert codes == list(media_type["examples"])
            if status == "default":  # what any request may meet
                assert [
                    "invalid_request",
                    "permission_denied",
                    "not_found",
                    "internal_error",
                ] == codes
                assert STATUSES.keys() == {*codes_of(media_type["schema"])}
            else:
                assert codes == codes_of(media_type["schema"])
                assert {int(status)} == {STATUSES[code] for code in codes}

    def test_have_the_statuses_of_section_7(self) -> None:
        assert SECTION_7.items() <= STATUSES.items()
        assert ["title", "detail", "request_id"] == SCHEMAS["ProblemDetails"][
            "required"
        ]

    def test_are_those_that_section_4_lists(self) -> None:
        every = {*operations()}
        reads, deletions, writes = (
            {name for name, (method, _, _) in operations().items() if method in methods}
            for methods in (("get",), ("delete",), ("post", "patch"))
        )
        starts = {
            name
            for name, (_, _, operation) in operations().items()
            if "202" in operation["responses"]
        }
        lists = {name for name in every if name.startswith("list")}
        uploads, assets = (
            {"createUpload", "completeUpload"},
            {"getAsset", "deleteAsset"},
        )
        products = {"getProduct", "updateProduct", "deleteProduct"}
        others = (
            {name for name, (_, path, _) in operations().items() if "{" in path}
            - uploads
            - assets
            - products
        )
        expected = {
            "invalid_request": lists | uploads,
            "invalid_cursor": lists,
            "authentication_required": every,
            "credential_expired": every,
            "credential_revoked": every,
            "insufficient_credits": starts
            - {"createPhotographyStyle", "updatePhotographyStyle"},
            "permission_denied": every - {"getTeam"},
            "subscription_required": writes,
            "not_found": others,
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
            "concurrency_limit_reached": starts,
            "rate_limited": every,
            "service_unavailable": every - reads,
            "internal_error": set(),
        }
        declared = [
            (name, code)
            for name, status, response in problems()
            for code in response["x-problem-codes"]
            if status != "default"
        ]
        assert expected == {
            code: {name for name, known in declared if known == code}
            for code in expected
        }


class TestSchemas:
    def test_of_requests_are_closed_and_of_answers_open(self) -> None:
        closed_ones = {
            name
            for name, schema in SCHEMAS.items()
            if schema.get("additionalProperties") is False
        }
        objects = {
            name for name, schema in SCHEMAS.items() if schema.get("type") == "object"
        }
        assert reachable(bodies()) & objects == closed_ones
        assert set() == reachable(answers()) & closed_ones

    def test_of_patches_need_a_field_and_bound_it_as_at_creation(self) -> None:
        for name in [name for name in SCHEMAS if name.endswith("Patch")]:
            changed, created = SCHEMAS[name], SCHEMAS[name.replace("Patch", "Write")]
            assert changed["minProperties"] == 1
            assert bounds_of(changed) == bounds_of(created), name

    def test_of_requests_say_which_limits_the_specification_does_not_have(self) -> None:
        limits = {
            "pattern",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minimum",
            "maximum",
        }
        limits |= {"minProperties", "x-unique-items", "default"}
        requests = [
            found
            for name in reachable(bodies())
            for found in schema_nodes(SCHEMAS[name], name)
        ]
        requests += [
            (name, part["schema"])
            for name, part in COMPONENTS["parameters"].items()
            if part["in"] != "path"
        ]
        specified = set()
        for where, node in requests:
            marked = {*node.get("x-emulator-only", ())}
            assert marked <= limits & node.keys(), where
            specified |= {
                f"{where.rpartition('/')[2]} {limit}"
                for limit in limits & node.keys() - marked
            }
        counted = {"asset_ids", "fashion_model_ids"}
        assert specified == {
            *{
                f"{name} {limit}"
                for name in counted
                for limit in ("minItems", "maxItems")
            },
            *(
                "image_count minimum",
                "image_count maximum",
                "size_bytes maximum",
                "hex pattern",
            ),
            *("Limit maximum", "Limit default"),
            *("supported_camera_distances maxItems", "IdempotencyKey minLength"),
        }

    def test_of_unions_say_how_to_tell_the_branches_apart(self) -> None:
        nodes = [
            found
            for name, schema in SCHEMAS.items()
            for found in schema_nodes(schema, name)
        ]
        unions = {
            where: node
            for where, node in nodes
            if {"type": "null"} not in node.get("oneOf", [{"type": "null"}])
        }
        updates = {f"{kind}OrOperation" for kind in INGREDIENTS}
        conflicts = unions.pop("AuthoringConflictProblem")
        assert conflicts["discriminator"]["mapping"] == {
            code: branch["$ref"]
            for branch in conflicts["oneOf"]
            for code in codes_of(branch)
        }
        assert {
            "BackgroundSelection",
            "FashionModelSelection",
            *updates,
        } == unions.keys()
        for union in unions.values():
            name, mapping = (
                union["discriminator"]["propertyName"],
                union["discriminator"]["mapping"],
            )
            assert list(mapping.values()) == [
                branch["$ref"] for branch in union["oneOf"]
            ]
            for word, reference in mapping.items():
                branch = resolve({"$ref": reference})
                assert {"type": "string", "const": word}.items() <= branch[
                    "properties"
                ][name].items()
                assert name in branch["required"]

    def test_answer_with_every_field_but_those_that_the_specification_does_not_promise(
        self,
    ) -> None:
        resources = [
            name
            for name, schema in SCHEMAS.items()
            if "object" in schema.get("properties", ())
        ]
        assert len(resources) >= 12
        optional = {
            name: {*SCHEMAS[name]["properties"]} - {*SCHEMAS[name]["required"]}
            for name in resources
        }
        expected = {
            "Product": {"description", "dimensions"},
            "Generation": {"resolved_asset_ids"},
        }
        assert expected == {name: some for name, some in optional.items() if some}

    def test_leave_open_what_section_2_does_not_show_of_a_generation(self) -> None:
        for name in ("initiated_by", "output_summary", "credits", "request"):
            assert {"description", "x-decision"} == SCHEMAS["Generation"]["properties"][
                name
            ].keys()

    def test_promise_timestamps_with_milliseconds(self) -> None:
        check = OPEN.validator("#/components/schemas/Timestamp")
        fitting = {"2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000+00:00"}
        others = {
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.000+01:00",
            "2026-02-30T00:00:00.000Z",
        }
        assert fitting == {text for text in fitting | others if check.is_valid(text)}


# The ledger, the control plane and the examples -----------------------------------------------------------------------

DECISIONS: list[dict[str, Any]] = read_contract("decisions.yaml")["decisions"]


def test_decisions_are_numbered_in_order_and_all_are_cited_and_no_others() -> None:
    ids = [decision["id"] for decision in DECISIONS]
    assert all(re.fullmatch("D[0-9]{2}", number) for number in ids)
    assert sorted({*ids}) == ids
    contract = (ROOT / "contract" / "openapi.yaml").read_text(encoding="utf-8")
    texts = [
        contract,
        *(
            path.read_text(encoding="utf-8")
            for path in (ROOT / "emulator").rglob("*.py")
        ),
    ]
    in_contract, cited = (
        {*re.findall(r"\bD[0-9]{2}\b", text)} for text in (contract, "\n".join(texts))
    )
    assert in_contract <= {*ids} <= cited


def test_the_code_has_each_reading_of_the_ledger_and_no_other() -> None:
    told = [
        (f"{decision['id']}={reading['id']}", reading["gives"])
        for decision in DECISIONS
        for reading in decision.get("readings", ())
    ]
    assert told == [(reading.name, reading.gives) for reading in READINGS.values()]


def test_each_field_of_the_readings_belongs_to_one_decision() -> None:
    decisions = {reading.field: reading.decision for reading in READINGS.values()}
    assert set(Readings.__struct_fields__) == set(decisions)
    assert len(decisions) == len(set(decisions.values()))
    assert {PLAIN} == {
        getattr(NO_READINGS, field) for field in Readings.__struct_fields__
    }


@pytest.mark.parametrize("name", ["openapi.yaml", "control-plane.yaml"])
def test_a_contract_is_valid_openapi(name: str) -> None:
    assert [
        error.message
        for error in OpenAPIV31SpecValidator(read_contract(name)).iter_errors()
    ] == []


def test_bounds_of_the_control_plane_are_those_of_the_code() -> None:
    schemas = read_contract("control-plane.yaml")["components"]["schemas"]
    assert (
        schemas["Count"]["maximum"]
        == schemas["PositiveCount"]["maximum"]
        == MAX_INTEGER
    )
    assert schemas["Line"]["maxLength"] == MAX_NAME_CHARACTERS
    assert schemas["SandboxWrite"]["properties"]["seed"]["maximum"] == MAX_SEED


def test_the_examples_are_what_the_emulator_answers() -> None:
    shown, told = COMPONENTS["examples"], told_examples()
    assert list(told) == list(shown)
    for name, example in told.items():
        assert without_sizes(example) == without_sizes(shown[name]), (
            f"{name} has changed; run: make contract"
        )


def without_sizes(value: Any) -> Any:
    """An example but for the sizes of files, which another version of a library may change."""
    if isinstance(value, dict):
        return {
            name: without_sizes(item)
            for name, item in value.items()
            if name != "size_bytes"
        }
    return [without_sizes(item) for item in value] if isinstance(value, list) else value

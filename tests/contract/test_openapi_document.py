"""The contract as a document: complete, consistent with itself, fit for client generators. Must not know the server."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator

CONTRACT = Path(__file__).parents[2] / "contract"
TEXT = (CONTRACT / "openapi.yaml").read_text(encoding="utf-8")
DOCUMENT: dict[str, Any] = yaml.load(TEXT, yaml.CSafeLoader)
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
METHODS = ("get", "post", "patch", "put", "delete")

READ = "200 401 403 404 429"
LIST = "200 400 401 403 429"
REMOVE = "204 401 403 404 409 429 503"
FREE_CREATE = "202 401 403 409 422 429 503"
PAID_CREATE = "202 401 402 403 409 422 429 503"
FREE_UPDATE = "200 202 401 403 404 409 422 429 503"
PAID_UPDATE = "200 202 401 402 403 404 409 422 429 503"

# Section 4: every endpoint, the name of its body, and the statuses that it declares.
ENDPOINTS = {
    "getTeam": ("get", "/team", None, "200 401 429"),
    "createUpload": ("post", "/uploads", "CreateUpload", "201 400 401 403 409 422 429 503"),
    "completeUpload": (
        "post",
        "/uploads/{upload_id}/complete",
        "CompleteUpload",
        "201 400 401 403 404 409 410 422 429 503",
    ),
    "listAssets": ("get", "/assets", None, LIST),
    "getAsset": ("get", "/assets/{asset_id}", None, READ),
    "deleteAsset": ("delete", "/assets/{asset_id}", None, "200 401 403 404 409 429 503"),
    "listProducts": ("get", "/products", None, LIST),
    "createProduct": ("post", "/products", "ProductWrite", "201 401 403 409 422 429 503"),
    "getProduct": ("get", "/products/{product_id}", None, READ),
    "updateProduct": ("patch", "/products/{product_id}", "ProductPatch", "200 401 403 404 409 422 429 503"),
    "deleteProduct": ("delete", "/products/{product_id}", None, REMOVE),
    "listPhotographyStyles": ("get", "/photography-styles", None, LIST),
    "createPhotographyStyle": ("post", "/photography-styles", "StyleWrite", FREE_CREATE),
    "getPhotographyStyle": ("get", "/photography-styles/{photography_style_id}", None, READ),
    "updatePhotographyStyle": ("patch", "/photography-styles/{photography_style_id}", "StylePatch", FREE_UPDATE),
    "deletePhotographyStyle": ("delete", "/photography-styles/{photography_style_id}", None, REMOVE),
    "listBackgrounds": ("get", "/backgrounds", None, LIST),
    "createBackground": ("post", "/backgrounds", "BackgroundWrite", PAID_CREATE),
    "getBackground": ("get", "/backgrounds/{background_id}", None, READ),
    "updateBackground": ("patch", "/backgrounds/{background_id}", "BackgroundPatch", PAID_UPDATE),
    "deleteBackground": ("delete", "/backgrounds/{background_id}", None, REMOVE),
    "listPoses": ("get", "/poses", None, LIST),
    "createPose": ("post", "/poses", "PoseWrite", PAID_CREATE),
    "getPose": ("get", "/poses/{pose_id}", None, READ),
    "updatePose": ("patch", "/poses/{pose_id}", "PosePatch", PAID_UPDATE),
    "deletePose": ("delete", "/poses/{pose_id}", None, REMOVE),
    "listFashionModels": ("get", "/fashion-models", None, LIST),
    "createFashionModel": ("post", "/fashion-models", "FashionModelWrite", PAID_CREATE),
    "getFashionModel": ("get", "/fashion-models/{fashion_model_id}", None, READ),
    "updateFashionModel": ("patch", "/fashion-models/{fashion_model_id}", "FashionModelPatch", PAID_UPDATE),
    "deleteFashionModel": ("delete", "/fashion-models/{fashion_model_id}", None, REMOVE),
    "listOperations": ("get", "/operations", None, LIST),
    "getOperation": ("get", "/operations/{operation_id}", None, READ),
    "listGenerations": ("get", "/generations", None, LIST),
    "getGeneration": ("get", "/generations/{generation_id}", None, READ),
    "createProductPhotographyGeneration": (
        "post",
        "/generations/product-photography",
        "ProductPhotography",
        PAID_CREATE,
    ),
    "createEditImagesGeneration": ("post", "/generations/edit-images", "EditImages", PAID_CREATE),
    "createUpscaleGeneration": ("post", "/generations/upscale", "Upscale", PAID_CREATE),
}

# Section 7: every code and the statuses that it may come with; 405 and 413 by D03 and D06, only as a default problem.
CODES = {
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

SCHEMA_KEYWORDS = {
    *(
        "$ref",
        "type",
        "description",
        "enum",
        "const",
        "default",
        "format",
        "pattern",
        "minLength",
        "minimum",
        "maximum",
    ),
    *(
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "properties",
        "required",
        "additionalProperties",
        "minProperties",
    ),
    *("oneOf", "allOf", "discriminator", "x-decision"),
}


def resolve(node: dict[str, Any]) -> dict[str, Any]:
    """Follow references within the document."""
    while "$ref" in node:
        target: Any = DOCUMENT
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def operations() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Every operation of the document by its id, with its method and path."""
    return {
        operation["operationId"]: (method, path, operation)
        for path, item in DOCUMENT["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def responses() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every response of every operation: operation id, status, response."""
    for name, (_, _, operation) in operations().items():
        for status, response in operation["responses"].items():
            yield name, status, resolve(response)


def problems() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every problem response of every operation."""
    for name, status, response in responses():
        if not status.startswith("2"):
            yield name, status, response


def media_types() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every body that goes in or out, with a word on where it is."""
    for name, (_, _, operation) in operations().items():
        if "requestBody" in operation:
            yield f"{name} body", resolve(operation["requestBody"])["content"]["application/json"]
    for name, status, response in responses():
        for media_type in response.get("content", {}).values():
            yield f"{name} {status}", media_type


def schema_nodes(schema: dict[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
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


def all_schema_nodes() -> Iterator[tuple[str, dict[str, Any]]]:
    """All schemas of all components, and all schemas inside them."""
    for name, schema in SCHEMAS.items():
        yield from schema_nodes(schema, name)


def validator(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """A validator of a schema that may refer to components."""
    registry = jsonschema_rs.Registry([("urn:contract", DOCUMENT)], draft=jsonschema_rs.Draft202012)
    reference = {"$ref": "urn:contract" + schema["$ref"]}
    return jsonschema_rs.Draft202012Validator(reference, registry=registry, validate_formats=True)


def codes_of(schema: dict[str, Any]) -> list[str]:
    """The codes that a problem's schema admits: the narrowest enum of its `code`."""
    parts = [resolve(part) for part in resolve(schema)["allOf"]]
    narrowed: list[str] = resolve(parts[-1]["properties"]["code"])["enum"]
    return narrowed


def duplicate_keys(node: yaml.Node | None) -> Iterator[str]:
    """Every key that stands twice in one mapping; the loader would let the last one win in silence."""
    if isinstance(node, yaml.MappingNode):
        keys = [key.value for key, _ in node.value]
        yield from (f"{key} at line {node.start_mark.line + 1}" for key in {*keys} if keys.count(key) > 1)
        for _, value in node.value:
            yield from duplicate_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from duplicate_keys(item)


class TestDocument:
    """The file as a whole."""

    def test_is_valid_openapi(self) -> None:
        assert [error.message for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []

    def test_says_which_version_it_is(self) -> None:
        assert (DOCUMENT["openapi"], DOCUMENT["info"]["version"]) == ("3.1.0", "1.0.0")

    def test_is_served_at_the_default_address(self) -> None:
        assert [server["url"] for server in DOCUMENT["servers"]] == ["http://127.0.0.1:8038/v1"]

    @pytest.mark.parametrize("name", ["openapi.yaml", "decisions.yaml"])
    def test_has_no_key_twice(self, name: str) -> None:
        node = yaml.compose((CONTRACT / name).read_text(encoding="utf-8"), yaml.CSafeLoader)
        assert list(duplicate_keys(node)) == []

    def test_refers_only_to_what_exists(self) -> None:
        for reference in {*re.findall(r"#/components/[A-Za-z]+/[A-Za-z0-9_]+", TEXT)}:
            assert resolve({"$ref": reference})

    @pytest.mark.parametrize("kind", ["parameters", "headers", "links", "responses", "schemas", "examples"])
    def test_has_no_component_that_nothing_uses(self, kind: str) -> None:
        unused = [name for name in DOCUMENT["components"][kind] if f"#/components/{kind}/{name}'" not in TEXT]
        assert unused == []


class TestOperations:
    """The 38 operations against the endpoint list."""

    def test_are_those_of_the_specification(self) -> None:
        assert len(ENDPOINTS) == 38
        assert {name: row[:2] for name, row in ENDPOINTS.items()} == {
            name: (method, path) for name, (method, path, _) in operations().items()
        }

    @pytest.mark.parametrize("name", ENDPOINTS)
    def test_declare_the_statuses_of_the_specification_and_a_default(self, name: str) -> None:
        assert [*ENDPOINTS[name][3].split(), "default"] == list(operations()[name][2]["responses"])

    @pytest.mark.parametrize("name", ENDPOINTS)
    def test_take_the_body_of_the_specification(self, name: str) -> None:
        body = operations()[name][2].get("requestBody")
        found = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2] if body else None
        assert ENDPOINTS[name][2] == found
        assert body is None or body["required"] is True

    @pytest.mark.parametrize("name", ENDPOINTS)
    def test_require_an_idempotency_key_and_name_their_cost_when_they_create_or_update(self, name: str) -> None:
        method, _, operation = operations()[name]
        parameters = [resolve(parameter) for parameter in operation.get("parameters", ())]
        keys = [parameter for parameter in parameters if parameter["name"] == "Idempotency-Key"]
        writes = method in ("post", "patch")
        assert [True] * writes == [key["required"] for key in keys]
        assert writes == ("x-service-credit-cost" in operation)

    @pytest.mark.parametrize("name", ENDPOINTS)
    def test_declare_the_parameters_of_their_path(self, name: str) -> None:
        _, path, operation = operations()[name]
        parameters = [resolve(parameter) for parameter in operation.get("parameters", ())]
        found = [parameter["name"] for parameter in parameters if parameter["in"] == "path"]
        assert re.findall(r"\{(\w+)\}", path) == found

    def test_list_with_the_filters_of_the_specification(self) -> None:
        ingredients = ["limit", "after", "scope"]
        expected = {
            "listAssets": ["limit", "after", "source"],
            "listProducts": ["limit", "after"],
            "listPhotographyStyles": ingredients,
            "listBackgrounds": ingredients,
            "listPoses": ingredients,
            "listFashionModels": ingredients,
            "listOperations": ["limit", "after", "status", "type", "target_id"],
            "listGenerations": ["limit", "after", "workflow", "status"],
        }
        found = {
            name: [resolve(p)["name"] for p in operation.get("parameters", ()) if resolve(p)["in"] == "query"]
            for name, (_, _, operation) in operations().items()
        }
        assert expected == {name: query for name, query in found.items() if query}

    def test_have_one_declared_tag_each(self) -> None:
        declared = [tag["name"] for tag in DOCUMENT["tags"]]
        used = [operation["tags"] for _, _, operation in operations().values()]
        assert {1} == {len(tags) for tags in used}
        assert declared == list(dict.fromkeys(tags[0] for tags in used))

    def test_need_the_credential_all_of_them(self) -> None:
        assert DOCUMENT["security"] == [{"apiCredential": []}]
        assert DOCUMENT["components"]["securitySchemes"]["apiCredential"]["scheme"] == "bearer"
        assert [name for name, (_, _, operation) in operations().items() if "security" in operation] == []


class TestHeaders:
    """The headers of answers."""

    def test_name_the_exchange_on_every_answer(self) -> None:
        missing = [(name, status) for name, status, response in responses() if "Request-Id" not in response["headers"]]
        assert missing == []
        assert DOCUMENT["components"]["headers"]["RequestId"]["required"] is True

    def test_locate_new_assets_products_and_authoring_work_and_nothing_else(self) -> None:
        kinds = ("PhotographyStyle", "Background", "Pose", "FashionModel")
        expected = {("completeUpload", "201"), ("createProduct", "201")}
        expected |= {(f"{verb}{kind}", "202") for verb in ("create", "update") for kind in kinds}
        assert expected == {
            (name, status) for name, status, response in responses() if "Location" in response["headers"]
        }

    def test_say_when_to_retry_where_waiting_helps(self) -> None:
        found = {(name, status) for name, status, response in responses() if "Retry-After" in response["headers"]}
        expected = {(name, status) for name, status, _ in responses() if status in ("429", "503")}
        assert expected | {("getOperation", "200"), ("getGeneration", "200")} == found

    def test_always_say_when_to_retry_after_too_many_requests(self) -> None:
        limited = [resolve(r["headers"]["Retry-After"]) for _, status, r in responses() if status == "429"]
        assert len(limited) == 38
        assert all(header["required"] for header in limited)


class TestProblems:
    """The problem answers."""

    @pytest.mark.parametrize(("name", "status", "response"), [*problems()])
    def test_carry_the_codes_of_their_schema(self, name: str, status: str, response: dict[str, Any]) -> None:
        media_type = response["content"]["application/problem+json"]
        assert response["x-problem-codes"] == codes_of(media_type["schema"])
        assert response["x-problem-codes"] == list(media_type["examples"])
        if status != "default":
            assert {int(status)} == {CODES[code] for code in response["x-problem-codes"]}

    def test_have_all_codes_of_the_catalogue_between_them(self) -> None:
        assert len(CODES) == 24
        assert list(CODES) == SCHEMAS["ProblemCode"]["enum"]
        assert {*CODES} == {code for _, _, response in problems() for code in response["x-problem-codes"]}

    def test_by_default_are_those_that_can_meet_any_request(self) -> None:
        found = {tuple(response["x-problem-codes"]) for _, status, response in problems() if status == "default"}
        assert {("invalid_request", "not_found", "internal_error")} == found

    def test_name_the_kind_of_what_was_not_found(self) -> None:
        expected = {"uploads": "upload_not_found", "assets": "asset_not_found", "products": "product_not_found"}
        for name, status, response in problems():
            if status == "404":
                room = operations()[name][1].split("/")[1]
                assert [expected.get(room, "not_found")] == response["x-problem-codes"]

    def test_speak_of_concurrency_only_where_creative_work_starts(self) -> None:
        found = {name for name, _, response in problems() if "concurrency_limit_reached" in response["x-problem-codes"]}
        starts = {name for name, (_, _, operation) in operations().items() if "202" in operation["responses"]}
        assert starts == found

    def test_speak_of_the_subscription_wherever_a_key_is_needed(self) -> None:
        found = {name for name, _, response in problems() if "subscription_required" in response["x-problem-codes"]}
        assert {name for name, (method, _, _) in operations().items() if method in ("post", "patch")} == found

    def test_speak_of_upscaling_only_there(self) -> None:
        found = {
            name for name, _, response in problems() if "already_at_target_resolution" in response["x-problem-codes"]
        }
        assert {"createUpscaleGeneration"} == found

    def test_name_the_operation_in_the_way_whenever_one_is(self) -> None:
        check = validator({"$ref": "#/components/schemas/ResourceOperationInProgressProblem"})
        value = DOCUMENT["components"]["examples"]["resource_operation_in_progress"]["value"]
        assert check.is_valid(value)
        assert not check.is_valid({key: part for key, part in value.items() if key != "active_operation_id"})


class TestExamples:
    """The examples against their schemas."""

    @pytest.mark.parametrize(("where", "media_type"), [*media_types()])
    def test_are_there_and_are_valid(self, where: str, media_type: dict[str, Any]) -> None:
        check = validator(media_type["schema"])
        examples = {name: resolve(example)["value"] for name, example in media_type["examples"].items()}
        assert examples
        assert {
            name: [error.message for error in check.iter_errors(value)]
            for name, value in examples.items()
            if not check.is_valid(value)
        } == {}

    def test_of_parameters_and_headers_are_valid(self) -> None:
        components = DOCUMENT["components"]
        for part in (*components["parameters"].values(), *components["headers"].values()):
            if "example" in part:
                assert jsonschema_rs.Draft202012Validator(part["schema"]).is_valid(part["example"])

    def test_show_no_field_that_the_contract_does_not_know(self) -> None:
        for _, media_type in media_types():
            for example in media_type["examples"].values():
                assert list(unknown_fields(resolve(example)["value"], media_type["schema"])) == []


def unknown_fields(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Fields of an example that no branch of its schema knows; schemas of answers are open, so these would be valid."""
    schema = resolve(schema)
    if isinstance(value, list):
        for item in value:
            yield from unknown_fields(item, schema["items"])
    if not isinstance(value, dict) or "additionalProperties" in schema:
        return
    branches = [resolve(branch) for branch in schema.get("oneOf", [])]
    fitting = [branch for branch in branches if {*branch.get("required", ())} <= {*value} and "properties" in branch]
    known: dict[str, Any] = {}
    for part in (schema, *(resolve(part) for part in schema.get("allOf", ())), *fitting):
        known |= part.get("properties", {})
    for name, item in value.items():
        if name in known:
            yield from unknown_fields(item, known[name])
        else:
            yield name


class TestLinks:
    """The links from an answer to the operations that it leads to."""

    @pytest.mark.parametrize("name", DOCUMENT["components"]["links"])
    def test_lead_to_an_operation_with_that_parameter(self, name: str) -> None:
        link = DOCUMENT["components"]["links"][name]
        _, _, operation = operations()[link["operationId"]]
        assert {*link["parameters"]} <= {resolve(parameter)["name"] for parameter in operation["parameters"]}

    def test_lead_from_every_creation_to_its_reading(self) -> None:
        for name, status, response in responses():
            if status in ("201", "202"):
                targets = {resolve(link)["operationId"] for link in response["links"].values()}
                assert targets & ({"completeUpload"} if name == "createUpload" else READS)

    def test_find_what_they_need_in_the_examples(self) -> None:
        for name, status, response in responses():
            values = [
                resolve(example)["value"]
                for media_type in response.get("content", {}).values()
                for example in media_type["examples"].values()
            ]
            for link in response.get("links", {}).values():
                for expression in resolve(link)["parameters"].values():
                    assert any(isinstance(at_pointer(value, expression), str) for value in values), (
                        name,
                        status,
                        expression,
                    )


READS = frozenset({"getAsset", "getProduct", "getOperation", "getGeneration"})


def at_pointer(value: Any, expression: str) -> Any:
    """What a runtime expression finds in an answer's body; None if nothing is there."""
    for step in expression.removeprefix("$response.body#/").split("/"):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


class TestSchemas:
    """The schemas, for readers and for client generators."""

    def test_use_only_keywords_that_are_meant(self) -> None:
        # A comma in an unquoted description of a flow mapping would make the rest of it a keyword.
        odd = {where: {*node} - SCHEMA_KEYWORDS for where, node in all_schema_nodes() if {*node} - SCHEMA_KEYWORDS}
        assert odd == {}

    def test_describe_every_component_and_every_property(self) -> None:
        bare = [name for name, schema in SCHEMAS.items() if not schema.get("description")]
        for where, node in all_schema_nodes():
            bare += [
                f"{where}/{name}" for name, inner in node.get("properties", {}).items() if not inner.get("description")
            ]
        assert bare == []

    def test_have_no_title(self) -> None:
        assert [where for where, node in all_schema_nodes() if "title" in node] == []

    def test_name_every_enum_and_every_nested_object(self) -> None:
        inline = [
            where
            for where, node in all_schema_nodes()
            if "/" in where and ("enum" in node or ("properties" in node and "/allOf/" not in where))
        ]
        assert inline == []

    def test_require_only_what_they_describe(self) -> None:
        for where, node in all_schema_nodes():
            assert {*node.get("required", ())} <= {*node.get("properties", ())}, where

    def test_of_requests_are_closed_and_of_answers_open(self) -> None:
        requests = {*reachable(media_type["schema"] for where, media_type in media_types() if where.endswith(" body"))}
        answers = {
            *reachable(media_type["schema"] for where, media_type in media_types() if not where.endswith(" body"))
        }
        closed = {name for name, schema in SCHEMAS.items() if schema.get("additionalProperties") is False}
        objects = {name for name, schema in SCHEMAS.items() if schema.get("type") == "object"}
        assert requests & objects == closed
        assert set() == answers & closed

    def test_of_patches_need_a_field(self) -> None:
        assert {1} == {schema["minProperties"] for name, schema in SCHEMAS.items() if name.endswith("Patch")}

    def test_of_arrays_of_ids_in_requests_refuse_doubles(self) -> None:
        requests = {*reachable(media_type["schema"] for where, media_type in media_types() if where.endswith(" body"))}
        arrays = {
            where: node
            for name in requests
            for where, node in schema_nodes(SCHEMAS[name], name)
            if node.get("type") == "array"
        }
        assert arrays
        assert [where for where, node in arrays.items() if node.get("uniqueItems") is not True] == []

    def test_of_unions_in_requests_say_how_to_tell_the_branches_apart(self) -> None:
        for name in ("BackgroundSelection", "FashionModelSelection"):
            union = SCHEMAS[name]
            mapping = union["discriminator"]["mapping"]
            assert list(mapping.values()) == [branch["$ref"] for branch in union["oneOf"]]
            for word, reference in mapping.items():
                branch = resolve({"$ref": reference})
                assert ("string", word) == (branch["properties"]["type"]["type"], branch["properties"]["type"]["const"])
                assert "type" in branch["required"]

    def test_answer_with_every_field_but_the_optional_texts_of_a_product(self) -> None:
        resources = [name for name, schema in SCHEMAS.items() if "object" in schema.get("properties", ())]
        assert len(resources) >= 12
        optional = {name: {*SCHEMAS[name]["properties"]} - {*SCHEMAS[name]["required"]} for name in resources}
        assert {"Product": {"description", "dimensions"}} == {
            name: fields for name, fields in optional.items() if fields
        }

    @pytest.mark.parametrize("name", SCHEMAS)
    def test_can_be_built_at_run_time(self, name: str) -> None:
        assert not validator({"$ref": f"#/components/schemas/{name}"}).is_valid(3.5)

    def test_have_defaults_that_are_valid(self) -> None:
        for where, node in all_schema_nodes():
            if "default" in node:
                schema = {key: part for key, part in node.items() if key != "$ref"}
                check = validator(node) if "$ref" in node else None
                check = check or jsonschema_rs.Draft202012Validator(
                    {**schema, "items": resolve(schema["items"])} if "items" in schema else schema
                )
                assert check.is_valid(node["default"]), where


def reachable(roots: Iterator[dict[str, Any]]) -> Iterator[str]:
    """The names of all schemas that these refer to, directly or through others."""
    waiting, seen = [root["$ref"].rpartition("/")[2] for root in roots], set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield name
            waiting += [n["$ref"].rpartition("/")[2] for _, n in schema_nodes(SCHEMAS[name], name) if "$ref" in n]


PRODUCT = {"name": "Shirt", "asset_ids": ["a", "b"], "primary_asset_id": "a"}
SHOT = {"output_mode": "single_shots", "asset_ids": ["a"]}
EDIT = {"asset_ids": ["a"], "instructions": "x", "aspect_ratio": "1:1", "resolution": "1k", "output_format": "png"}


class TestBodies:
    """What the schemas of requests accept and refuse."""

    @pytest.mark.parametrize(
        ("schema", "body"),
        [
            ("CreateUpload", {"content_type": "image/avif", "size_bytes": 1}),
            ("CreateUpload", {"content_type": "image/png", "size_bytes": 70 * 1024 * 1024}),
            ("ProductWrite", PRODUCT),
            ("ProductPatch", {"description": ""}),
            ("StyleWrite", {"name": "n", "asset_ids": ["a", "b", "c"]}),
            ("PoseWrite", {"name": "n", "asset_id": "a"}),
            ("ProductPhotography", SHOT),
            ("ProductPhotography", {**SHOT, "background": {"type": "color", "color": "AABBCC"}}),
            ("ProductPhotography", {**SHOT, "colorway": {"name": "Moss", "hex": "#5A6b3c"}, "image_count": 6}),
            ("ProductPhotography", {**SHOT, "fashion_model": {"type": "group", "fashion_model_ids": ["a", "b", "c"]}}),
            ("EditImages", {**EDIT, "asset_ids": [*"abcdefgh"]}),
            ("Upscale", {"asset_id": "a", "target_resolution": "2k", "output_format": "webp"}),
        ],
    )
    def test_that_are_allowed_are_accepted(self, schema: str, body: dict[str, Any]) -> None:
        assert validator({"$ref": f"#/components/schemas/{schema}"}).is_valid(body)

    @pytest.mark.parametrize(
        ("schema", "body"),
        [
            ("CreateUpload", {"content_type": "image/tiff", "size_bytes": 1}),
            ("CreateUpload", {"content_type": "image/png", "size_bytes": 0}),
            ("CreateUpload", {"content_type": "image/png", "size_bytes": 70 * 1024 * 1024 + 1}),
            ("CreateUpload", {"content_type": "image/png", "size_bytes": 1, "name": "x"}),
            ("ProductWrite", {**PRODUCT, "name": " \t\n"}),
            ("ProductWrite", {**PRODUCT, "asset_ids": []}),
            ("ProductWrite", {**PRODUCT, "asset_ids": ["a", "a"]}),
            ("ProductWrite", {**PRODUCT, "description": None}),
            ("ProductPatch", {}),
            ("StyleWrite", {"name": "n", "asset_ids": ["a", "b"]}),
            ("StylePatch", {"asset_ids": ["a", "b", "c", "d"]}),
            ("BackgroundWrite", {"name": "n", "kind": "studio", "asset_id": "a"}),
            ("PosePatch", {"supported_camera_distances": ["close", "close"]}),
            ("PosePatch", {"supported_camera_distances": []}),
            ("FashionModelWrite", {"name": "n", "age_range": "25-35", "gender": "female", "asset_ids": [*"abcdef"]}),
            ("ProductPhotography", {"asset_ids": ["a"]}),
            ("ProductPhotography", {**SHOT, "image_count": 7}),
            ("ProductPhotography", {**SHOT, "background": {"type": "automatic", "color": "#aabbcc"}}),
            ("ProductPhotography", {**SHOT, "background": {"type": "color", "color": "#abc"}}),
            ("ProductPhotography", {**SHOT, "background": {"type": "color", "color": "#aabbcc\n"}}),
            ("ProductPhotography", {**SHOT, "fashion_model": {"type": "group", "fashion_model_ids": ["a"]}}),
            ("ProductPhotography", {**SHOT, "fashion_model": {"type": "selected"}}),
            ("ProductPhotography", {**SHOT, "colorway": {"hex": "#aabbcc"}}),
            ("EditImages", {**EDIT, "asset_ids": [*"abcdefghi"]}),
            ("EditImages", {**EDIT, "instructions": " "}),
            ("Upscale", {"asset_id": "a", "target_resolution": "1k", "output_format": "webp"}),
        ],
    )
    def test_that_are_not_allowed_are_refused(self, schema: str, body: dict[str, Any]) -> None:
        assert not validator({"$ref": f"#/components/schemas/{schema}"}).is_valid(body)

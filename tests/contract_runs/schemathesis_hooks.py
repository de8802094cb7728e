"""What a run of Schemathesis knows of the emulator: a service with something of everything, and one check more.

Loaded by Schemathesis itself, in a process of its own, by SCHEMATHESIS_HOOKS.

A generator that reads a schema knows the shape of a request, but not which ids exist nor which fields must agree. Here
is what it lacks: then whatever the contract calls valid must be accepted, and a refusal is a finding. Must not change a
request that was made wrong on purpose, other than to lead it past what it was not meant to test. At its end it writes
what was answered to the file that CONTRACT_RUN_REPORT names.
"""

import atexit
import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

from image_workflow_emulator.contract import enforcing_unique_items
from image_workflow_emulator.domain.resources import Pose
from image_workflow_emulator.service.sandbox.store import Store
from image_workflow_emulator.service.state import archive
from tests.support.contract_check import Exchange, shipped_checker
from tests.support.emulator_client import (
    INGREDIENT_PATHS,
    KINDS,
    SOURCES,
    EmulatorUnderTest,
    Json,
    ingredient_body,
    settings_of,
)
from tests.support.pictures import picture

ASSETS = 8
"""As many as any request may name."""
WEALTH = 1_000_000
"""Credits and places of the concurrency budget: so many that no run meets a limit, which has tests of its own."""

INGREDIENTS = [f"{kind}_id" for kind in KINDS]
"""The path parameters that name an ingredient."""


class SeededService:
    """An emulator whose Library can be renewed at any time."""

    def __init__(self) -> None:
        self.emulator = emulator = EmulatorUnderTest(settings_of(rate_limits=False))
        emulator.set_team(credits_available=WEALTH, concurrency_limit=WEALTH)
        self.assets = [
            emulator.upload(picture(size=(8, number)))["id"]
            for number in range(1, ASSETS + 1)
        ]
        self.products = [
            emulator.product(*assets)["id"]
            for assets in (self.assets[:2], self.assets[2:3])
        ]
        orders = [
            (
                INGREDIENT_PATHS[kind],
                ingredient_body(kind, self.assets[: SOURCES[kind]]),
            )
            for kind in KINDS
        ]
        work = [emulator.post(path, body).id for path, body in orders]
        generation = emulator.photograph(
            product_ids=self.products[:1], aspect_ratio="21:9"
        )
        emulator.advance(60)
        made = [
            emulator.get(f"/operations/{operation}").json["result"]["id"]
            for operation in work
        ]
        session, self.upload_token = emulator.ready_upload()
        self.ids: dict[str, str] = dict(zip(INGREDIENTS, made, strict=True))
        """By path parameter: an id that exists."""
        self.ids |= {
            "asset_id": self.assets[0],
            "product_id": self.products[0],
            "operation_id": work[0],
        }
        self.ids |= {"upload_id": session["id"], "generation_id": generation.id}
        self._beginning = b"".join(archive.save(emulator.sandbox, emulator.now()))
        self.is_changed = False
        self._keys_used = 0

    def renew(self) -> None:
        """Make everything as at the beginning; the same ids come to be each time."""
        if self.is_changed:
            self.is_changed = False
            application, sandbox = self.emulator.application, self.emulator.sandbox
            limit_bytes = application.sandboxes.memory.limit_bytes
            again = archive.load(
                self._beginning, sandbox.id, limit_bytes, application.contract
            )
            application.sandboxes.replace(again)

    def direct(self, case: Case[Any]) -> None:
        """Give a case a key of its own, and let its valid parts refer to what exists."""
        meta = case.meta
        assert meta is not None
        is_valid = meta.generation.mode.is_positive
        negated = {
            location.container_name
            for location, part in meta.components.items()
            if part.mode.is_negative
        }
        if "headers" not in negated and "Idempotency-Key" in case.headers:
            self._keys_used += 1
            case.headers["Idempotency-Key"] = f"key {self._keys_used} of this run"
        if "path_parameters" not in negated and case.path_parameters:
            case.path_parameters = {
                name: self.ids[name] for name in case.path_parameters
            }
        if is_valid and case.query:
            case.query = self._resolved_query(case.path, case.query)
        if is_valid and isinstance(case.body, dict):
            case.body = self._resolved_body(case.body, case.path_parameters)

    def _resolved_query(self, path: str, query: Json) -> Json:
        """Return a query whose cursor is one that the collection gave, or that has none."""
        if "after" not in query:
            return query
        filters = {
            name: value
            for name, value in query.items()
            if name not in ("after", "limit")
        }
        page = self.emulator.get(f"{path}?{urlencode({**filters, 'limit': 1})}").json[
            "page"
        ]
        kept = {name: value for name, value in query.items() if name != "after"}
        return {**kept, "after": page["next_cursor"]} if page["has_more"] else kept

    def _resolved_body(self, body: Json, path_parameters: Json) -> Json:
        """Return a valid body whose ids exist and whose fields agree with each other and with the path."""
        body = {name: self._resolved(name, value) for name, value in body.items()}
        if "primary_asset_id" in body:
            product = self._store.products.items.get(
                path_parameters.get("product_id", "")
            )
            body["primary_asset_id"] = body.get(
                "asset_ids", product.asset_ids if product else self.assets
            )[0]
        return self._resolved_photography(body) if "output_mode" in body else body

    @property
    def _store(self) -> Store:
        return self.emulator.sandbox.store

    def _resolved(self, name: str, value: Any) -> Any:
        if name == "upload_token":
            return self.upload_token
        if isinstance(value, dict):
            return {inner: self._resolved(inner, item) for inner, item in value.items()}
        found = self._usable(name.removesuffix("s"))
        return (
            found[: len(value)]
            if found and isinstance(value, list)
            else found[0]
            if found
            else value
        )

    def _usable(self, name: str) -> list[str]:
        """Return the ids that a field may name: of ingredients, the Team's own before the premade ones."""
        if name in INGREDIENTS:
            return sorted(
                self._store.ingredients[name.removesuffix("_id")].items, reverse=True
            )
        if name == "product_id":
            return [
                product
                for product in self.products
                if product in self._store.products.items
            ]
        return (
            [asset for asset in self.assets if asset in self._store.assets.items]
            if name == "asset_id"
            else []
        )

    def _resolved_photography(self, body: Json) -> Json:
        if not body.get("product_ids") and not body.get("asset_ids"):
            body["asset_ids"] = self._resolved("asset_ids", [""])
        if "pose_id" in body and "camera_distance" in body:
            pose = self._store.ingredients["pose"].items[body["pose_id"]]
            assert isinstance(pose, Pose)
            body["camera_distance"] = pose.supported_camera_distances[-1]
        if body["output_mode"] == "photoshoot" and "image_count" in body:
            body["image_count"] = 4
        return body


SERVICE = SeededService()
STATUSES: dict[str, Counter[int]] = defaultdict(Counter)
"""By operation id: how often it answered with which status."""


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    """Let it know of the rule that the contract tells in an extension field."""
    raw_schema |= enforcing_unique_items(raw_schema)


@schemathesis.hook
def after_load_schema(context: HookContext, schema: Any) -> None:
    schema.app = SERVICE.emulator.application


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Send each case to the same fresh service, past what it is not meant to test."""
    SERVICE.renew()
    SERVICE.direct(case)


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:
    STATUSES[case.operation.definition.raw["operationId"]][response.status_code] += 1
    SERVICE.is_changed |= response.status_code < 300 and case.method != "GET"


@schemathesis.check
def answers_as_the_contract_says(
    context: CheckContext, response: Response, case: Case[Any]
) -> None:
    """Hold every answer against the contract with the checker that the other tests use."""
    request: Any = response.request
    path = request.path_url.partition("?")[0].removeprefix("/v1")
    headers = [
        (name, value) for name, values in response.headers.items() for value in values
    ]
    shipped_checker().check(
        Exchange(request.method, path, response.status_code, headers, response.content)
    )


@atexit.register
def write_report() -> None:
    Path(os.environ["CONTRACT_RUN_REPORT"]).write_text(json.dumps(STATUSES))

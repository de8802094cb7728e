"""What a run of Schemathesis knows of the emulator: a service with something of all.

Loaded by Schemathesis itself, in a process of its own, by SCHEMATHESIS_HOOKS.

A generator that reads a schema knows the shape of a request, but not which ids exist
nor which fields must agree. Here is what it lacks: with that, whatever the contract
calls valid must be accepted, and a refusal is a finding. A request that was made wrong
on purpose is changed only to lead it past what it does not test. At the end, what was
answered is written to the file that CONTRACT_RUN_REPORT names.
"""

import atexit
import json
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
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
    Json,
    ingredient_body,
)
from tests.support.emulator_under_test import EmulatorUnderTest, settings_of
from tests.support.pictures import picture

ASSETS = 8
"""As many as any request may name."""
WEALTH = 1_000_000
"""Credits and places of the concurrency budget: so many that no run meets a limit."""

INGREDIENTS = [f"{kind}_id" for kind in KINDS]
"""The path parameters that name an ingredient."""


class SeededService:
    """An emulator whose Library can be renewed at any time."""

    def __init__(self) -> None:
        emulator = EmulatorUnderTest(settings_of(rate_limits=False))
        self.emulator = emulator
        emulator.set_team(credits_available=WEALTH, concurrency_limit=WEALTH)
        self.assets: list[str] = []
        for height in range(1, ASSETS + 1):
            asset = emulator.upload(picture(size=(8, height)))
            self.assets.append(asset["id"])
        first, second, third, *_ = self.assets
        of_two_photos = emulator.product(first, second)
        of_one_photo = emulator.product(third)
        self.products = [of_two_photos["id"], of_one_photo["id"]]
        work = [self._author(kind) for kind in KINDS]
        generation = emulator.photograph(
            product_ids=self.products[:1],
            aspect_ratio="21:9",
        )
        emulator.advance(60)
        session, self.upload_token = emulator.ready_upload()
        self.ids: dict[str, str] = {
            "asset_id": self.assets[0],
            "product_id": self.products[0],
            "operation_id": work[0],
            "upload_id": session["id"],
            "generation_id": generation.id,
        }
        """By path parameter: an id that exists."""
        for name, operation_id in zip(INGREDIENTS, work, strict=True):
            operation = emulator.get(f"/operations/{operation_id}").json
            self.ids[name] = operation["result"]["id"]
        self._beginning = b"".join(archive.save(emulator.sandbox, emulator.now()))
        self.is_changed = False
        self._keys_used = 0

    def _author(self, kind: str) -> str:
        """Order an ingredient of a kind, and return the id of the Operation."""
        body = ingredient_body(kind, self.assets[: SOURCES[kind]])
        return self.emulator.post(INGREDIENT_PATHS[kind], body).id

    def renew(self) -> None:
        """Make everything as at the beginning; the same ids come to be each time."""
        if not self.is_changed:
            return
        self.is_changed = False
        application = self.emulator.application
        limit_bytes = application.sandboxes.memory.limit_bytes
        sandbox_id = self.emulator.sandbox.id
        renewed = archive.load(
            self._beginning,
            sandbox_id,
            limit_bytes,
            application.contract,
        )
        application.sandboxes.replace(renewed)

    def direct(self, case: Case[Any]) -> None:
        """Give a case a key of its own, and let its valid parts name what exists."""
        wrong_parts = _wrong_parts(case)
        if "headers" not in wrong_parts and "Idempotency-Key" in case.headers:
            self._keys_used += 1
            case.headers["Idempotency-Key"] = f"key {self._keys_used} of this run"
        if "path_parameters" not in wrong_parts and case.path_parameters:
            names = list(case.path_parameters)
            case.path_parameters = {name: self.ids[name] for name in names}
        if _is_valid(case):
            self._resolve(case)

    def _resolve(self, case: Case[Any]) -> None:
        """Let the query and the body of a valid case agree with what exists."""
        if case.query:
            case.query = self._resolved_query(case.path, case.query)
        if isinstance(case.body, dict):
            case.body = self._resolved_body(case.body, case.path_parameters)

    def _resolved_query(self, path: str, query: Json) -> Json:
        """Return a query whose cursor is one that the collection gave."""
        if "after" not in query:
            return query
        resolved = dict(query)
        del resolved["after"]
        parameters = urlencode({**resolved, "limit": 1})
        answer = self.emulator.get(f"{path}?{parameters}")
        page = answer.json["page"]
        if page["has_more"]:
            resolved["after"] = page["next_cursor"]
        return resolved

    def _resolved_body(self, body: Json, path_parameters: Json) -> Json:
        """Return a valid body whose ids exist, and whose fields agree with each other.

        They also agree with the path.
        """
        resolved = {name: self._resolved(name, value) for name, value in body.items()}
        if "primary_asset_id" in resolved:
            photos = resolved.get("asset_ids") or self._photos_of(path_parameters)
            resolved["primary_asset_id"] = photos[0]
        if "output_mode" in resolved:
            self._resolve_photography(resolved)
        return resolved

    def _photos_of(self, path_parameters: Json) -> Sequence[str]:
        """Return the Assets of the Product in the path; any where there is none."""
        product_id = path_parameters.get("product_id", "")
        product = self._store.products.items.get(product_id)
        if product is None:
            return self.assets
        return product.asset_ids

    @property
    def _store(self) -> Store:
        return self.emulator.sandbox.store

    def _resolved(self, name: str, value: Any) -> Any:
        if name == "upload_token":
            return self.upload_token
        if isinstance(value, dict):
            return {field: self._resolved(field, item) for field, item in value.items()}
        ids = self._usable(name.removesuffix("s"))
        if not ids:
            return value
        if isinstance(value, list):
            return ids[: len(value)]
        return ids[0]

    def _usable(self, name: str) -> list[str]:
        """Return the ids that a field may name; own ingredients come first."""
        store = self._store
        if name in INGREDIENTS:
            kind = name.removesuffix("_id")
            return sorted(store.ingredients[kind].items, reverse=True)
        if name == "product_id":
            return [
                product for product in self.products if product in store.products.items
            ]
        if name == "asset_id":
            return [asset for asset in self.assets if asset in store.assets.items]
        return []

    def _resolve_photography(self, body: Json) -> None:
        if not body.get("product_ids") and not body.get("asset_ids"):
            body["asset_ids"] = self._resolved("asset_ids", [""])
        if "pose_id" in body and "camera_distance" in body:
            pose = self._store.ingredients["pose"].items[body["pose_id"]]
            assert isinstance(pose, Pose)
            body["camera_distance"] = pose.supported_camera_distances[-1]
        if body["output_mode"] == "photoshoot" and "image_count" in body:
            body["image_count"] = 4


def _is_valid(case: Case[Any]) -> bool:
    """Whether nothing in a case was made wrong on purpose."""
    assert case.meta is not None
    return case.meta.generation.mode.is_positive


def _wrong_parts(case: Case[Any]) -> set[str]:
    """Return the parts of a case that were made wrong on purpose, such as `headers`."""
    assert case.meta is not None
    return {
        location.container_name
        for location, part in case.meta.components.items()
        if part.mode.is_negative
    }


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
def before_call(
    context: HookContext,
    case: Case[Any],
    kwargs: dict[str, Any],
) -> None:
    """Send each case to the same fresh service, past what it is not meant to test."""
    SERVICE.renew()
    SERVICE.direct(case)


@schemathesis.hook
def after_call(
    context: HookContext,
    case: Case[Any],
    response: Response,
) -> None:
    operation_id = case.operation.definition.raw["operationId"]
    STATUSES[operation_id][response.status_code] += 1
    if response.status_code < 300 and case.method != "GET":
        SERVICE.is_changed = True


@schemathesis.check
def answers_as_the_contract_says(
    context: CheckContext,
    response: Response,
    case: Case[Any],
) -> None:
    """Compare every answer with the contract, by the checker of the other tests."""
    request: Any = response.request
    path, _, _ = request.path_url.partition("?")
    headers: list[tuple[str, str]] = []
    for name, values in response.headers.items():
        headers += [(name, value) for value in values]
    exchange = Exchange(
        method=request.method,
        path=path.removeprefix("/v1"),
        status=response.status_code,
        headers=headers,
        body=response.content,
    )
    shipped_checker().check(exchange)


@atexit.register
def write_report() -> None:
    file = Path(os.environ["CONTRACT_RUN_REPORT"])
    file.write_text(json.dumps(STATUSES))

"""How resources look on the wire (section 2, D36). The one place that writes JSON for `/v1`.

Each resource is a list of members, in their order. A member shows the field of its name, an instant as a timestamp; what is
no such field, or looks different, is handed in beside the list.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from image_workflow_emulator.domain.pagination import Page
from image_workflow_emulator.domain.recipes import IngredientKind
from image_workflow_emulator.domain.resources import (
    Asset,
    Background,
    FashionModel,
    Generation,
    Ingredient,
    Operation,
    Output,
    PhotographyStyle,
    Pose,
    Product,
    RenderedOnce,
    UploadSession,
    Work,
    WorkError,
)
from image_workflow_emulator.http.responses import JSON_TYPE, NOSNIFF, Header, Response
from image_workflow_emulator.kernel.json_bytes import json_bytes
from image_workflow_emulator.kernel.timestamps import format_timestamp, timestamp_or_none
from image_workflow_emulator.service.resources import uploads
from image_workflow_emulator.service.resources.products import AssetDeletion
from image_workflow_emulator.service.sandbox.calls import Standing
from image_workflow_emulator.web.links import Links

Object = dict[str, Any]


def _members(kind: str, names: str) -> Callable[..., Object]:
    """Return a function that writes a resource of a kind, from the fields of these names and what is handed in instead."""
    listed = names.split()

    def write(resource: object, **others: object) -> Object:
        members: Object = {"object": kind}
        for name in listed:
            if name in others:
                members[name] = others[name]
            elif name in _INSTANTS:
                members[name] = timestamp_or_none(getattr(resource, name))
            else:
                members[name] = getattr(resource, name)
        return members

    return write


_INSTANTS = {"created_at", "updated_at", "started_at", "finished_at"}
_TIMES_OF_WORK = " created_at updated_at started_at finished_at"
_write_asset = _members(
    "asset", "id media_type source source_generation_id format width height size_bytes url created_at"
)
_write_deletion = _members(
    "asset_deletion", "id removed_product_memberships reassigned_primary_product_ids deleted_product_ids"
)
_write_product = _members("product", "id name asset_ids primary_asset_id created_at updated_at")
_write_operation = _members("operation", "id type status request target result error credits" + _TIMES_OF_WORK)
_write_generation = _members(
    "generation",
    "id workflow status initiated_by resolved_asset_ids output_summary outputs credits request" + _TIMES_OF_WORK,
)


def json_response(
    status: int, value: object, request_id: str, links: Links, headers: tuple[Header, ...] = ()
) -> Response:
    """Render a resource, a page of them, or nothing (204)."""
    identified = (b"request-id", request_id.encode())
    if value is None:
        return Response(status, (identified, *headers), b"")
    body = _page(value, links) if isinstance(value, Page) else _to_bytes(value, links)
    return Response(status, (JSON_TYPE, NOSNIFF, (b"content-length", b"%d" % len(body)), identified, *headers), body)


def _page(page: Page[Any], links: Links) -> bytes:
    try:
        items = b",".join([item.kept_bytes for item in page.items])
    except AttributeError:  # one of them was not rendered yet, or has links
        items = b",".join([_to_bytes(item, links) for item in page.items])
    end = orjson.dumps({"has_more": page.has_more, "next_cursor": page.next_cursor})
    return b'{"data":[%b],"page":%b}' % (items, end)


def _to_bytes(value: object, links: Links) -> bytes:
    """Return a resource as the JSON object that the contract describes."""
    kept: bytes | None = getattr(value, "kept_bytes", None)
    if kept is not None:
        return kept
    rendered = json_bytes(_RENDERERS[type(value)](value, links))
    return value.keep(rendered) if isinstance(value, RenderedOnce) else rendered  # there are no links in these


def _team(standing: Standing, links: Links) -> Object:
    team, credential = standing.team, standing.credential
    return {
        "object": "team",
        "id": team.id,
        "name": team.name,
        "credits": standing.available,  # D29
        "credential": {
            "object": "api_credential",
            "id": credential.id,
            "name": credential.name,
            "prefix": credential.prefix,
            "profile": credential.profile,
            "expires_at": format_timestamp(credential.expires_at),
        },
        "capabilities": {
            "api_access": True,  # D20
            "subscription_active": team.subscription_active,
            "creative_writes_allowed": team.subscription_active and credential.profile == "full",
            "api_concurrency": {"limit": team.concurrency_limit, "used": standing.used},
        },
    }


def _upload(session: UploadSession, links: Links) -> Object:
    recipe = {
        "method": "POST",
        "url": links.upload(session),
        "headers": uploads.headers(links.sandbox, session),
        "expires_at": format_timestamp(session.expires_at),
        "response": {"content_type": "application/json", "body": {"upload_token": "string"}},
    }
    return {"object": "upload", "id": session.id, "status": "awaiting_upload", "upload": recipe}


def _asset(asset: Asset, links: Links) -> Object:
    return _write_asset(
        asset,
        media_type="image",
        size_bytes=links.sandbox.images.size_bytes(asset.id),
        url=links.asset(asset),
    )


def _product(product: Product, links: Links) -> Object:
    value = _write_product(product)
    if product.description is not None:  # D22: texts never given are left out
        value["description"] = product.description
    if product.dimensions is not None:
        value["dimensions"] = product.dimensions
    return value


def _ingredient(kind: IngredientKind, names: str) -> Callable[[Ingredient, Links], Object]:
    """Return the renderer of a kind of ingredient, which has these members beside those of all kinds."""
    write = _members(kind, "id scope name source_asset_ids created_at updated_at " + names)

    def render(ingredient: Ingredient, links: Links) -> Object:
        pictures = [links.picture(key) for key in ingredient.picture_keys]
        others = {"preview_image_urls": pictures, "card_image_url": pictures[0]}
        if isinstance(ingredient, Background):
            others["kind"] = ingredient.background_kind
        return write(ingredient, **others)

    return render


def _error(error: WorkError | None, links: Links) -> Object | None:
    if error is None:
        return None
    if links.sandbox.readings.error_members == "nulls":  # D31
        return {"code": None, "message": None, "retryable": None}
    return {"code": error.code, "message": error.message, "retryable": error.retryable}


def _credits(work: Work) -> Object:
    return {"reserved": work.reserved_credits, "charged": work.charged_credits}


def _operation(operation: Operation, links: Links) -> Object:
    kind, target, result = operation.ingredient_kind, operation.target_id, operation.result_id
    return _write_operation(
        operation,
        target={"object": kind, "id": target} if target else None,
        result={"object": kind, "id": result} if result else None,
        error=_error(operation.error, links),
        credits=_credits(operation),
    )


def _output(output: Output, links: Links) -> Object:
    asset = {"id": output.asset_id} if output.asset_id else None
    return {"status": output.status, "asset": asset, "error": _error(output.error, links)}


def _generation(generation: Generation, links: Links) -> Object:
    summary = {"total": len(generation.outputs), "pending": 0, "processing": 0, "completed": 0, "failed": 0}
    for output in generation.outputs:
        summary[output.status] += 1
    credential = {"object": "api_credential", "id": generation.credential_id, "name": generation.credential_name}
    return _write_generation(
        generation,
        initiated_by=credential,
        output_summary=summary,
        outputs=[_output(output, links) for output in generation.outputs],
        credits=_credits(generation),
    )


_RENDERERS: Mapping[type, Callable[[Any, Links], Object]] = {
    Standing: _team,
    UploadSession: _upload,
    Asset: _asset,
    AssetDeletion: lambda deletion, _: _write_deletion(deletion),
    Product: _product,
    PhotographyStyle: _ingredient("photography_style", "description preview_image_urls"),
    Background: _ingredient("background", "description kind card_image_url"),
    Pose: _ingredient("pose", "description card_image_url supported_camera_distances"),
    FashionModel: _ingredient("fashion_model", "age_range gender card_image_url"),
    Operation: _operation,
    Generation: _generation,
}

"""How resources look on the wire (section 2, D36). The one place that writes JSON for `/v1`."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from image_workflow_emulator.domain.pagination import Page
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
    WorkError,
)
from image_workflow_emulator.http.responses import JSON_TYPE, NOSNIFF, Header, Response
from image_workflow_emulator.kernel.json_bytes import json_bytes
from image_workflow_emulator.kernel.timestamps import format_timestamp, timestamp_or_none
from image_workflow_emulator.service.resources import uploads
from image_workflow_emulator.service.resources.products import AssetDeletion
from image_workflow_emulator.service.sandbox.calls import Standing
from image_workflow_emulator.web.links import Links


def json_response(
    status: int, value: object, request_id: str, links: Links, headers: tuple[Header, ...] = ()
) -> Response:
    """Render a resource, a page of them, or nothing (204)."""
    identified = (b"request-id", request_id.encode())
    if value is None:
        return Response(status, (identified, *headers), b"")
    body = _to_bytes(value, links)
    return Response(status, (JSON_TYPE, NOSNIFF, (b"content-length", b"%d" % len(body)), identified, *headers), body)


def _to_bytes(value: object, links: Links) -> bytes:
    """Return a resource or a page as the JSON object that the contract describes."""
    kept: bytes | None = getattr(value, "kept_bytes", None)
    if kept is not None:
        return kept
    if isinstance(value, Page):
        return _page(value, links)
    rendered = json_bytes(_RENDERERS[type(value)](value, links))
    return value.keep(rendered) if isinstance(value, RenderedOnce) else rendered  # there are no links in these


def _page(page: Page[Any], links: Links) -> bytes:
    items = b",".join([_to_bytes(item, links) for item in page.items])
    end = orjson.dumps({"has_more": page.has_more, "next_cursor": page.next_cursor})
    return b'{"data":[%b],"page":%b}' % (items, end)


def _team(standing: Standing, links: Links) -> dict[str, Any]:
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


def _upload(session: UploadSession, links: Links) -> dict[str, Any]:
    return {
        "object": "upload",
        "id": session.id,
        "status": "awaiting_upload",
        "upload": {
            "method": "POST",
            "url": links.upload(session),
            "headers": uploads.headers(links.sandbox, session),
            "expires_at": format_timestamp(session.expires_at),
            "response": {"content_type": "application/json", "body": {"upload_token": "string"}},
        },
    }


def _asset(asset: Asset, links: Links) -> dict[str, Any]:
    return {
        "object": "asset",
        "id": asset.id,
        "media_type": "image",
        "source": asset.source,
        "source_generation_id": asset.source_generation_id,
        "format": asset.format,
        "width": asset.width,
        "height": asset.height,
        "size_bytes": links.sandbox.images.size_bytes(asset.id),
        "url": links.asset(asset),
        "created_at": format_timestamp(asset.created_at),
    }


def _asset_deletion(deletion: AssetDeletion, links: Links) -> dict[str, Any]:
    return {
        "object": "asset_deletion",
        "id": deletion.id,
        "removed_product_memberships": deletion.removed_product_memberships,
        "reassigned_primary_product_ids": deletion.reassigned_primary_product_ids,
        "deleted_product_ids": deletion.deleted_product_ids,
    }


def _product(product: Product, links: Links) -> dict[str, Any]:
    value = {
        "object": "product",
        "id": product.id,
        "name": product.name,
        "asset_ids": product.asset_ids,
        "primary_asset_id": product.primary_asset_id,
        "created_at": format_timestamp(product.created_at),
        "updated_at": format_timestamp(product.updated_at),
    }
    if product.description is not None:  # D22: texts never given are left out
        value["description"] = product.description
    if product.dimensions is not None:
        value["dimensions"] = product.dimensions
    return value


def _ingredient(ingredient: Ingredient) -> dict[str, Any]:
    return {
        "object": ingredient.kind,
        "id": ingredient.id,
        "scope": ingredient.scope,
        "name": ingredient.name,
        "source_asset_ids": ingredient.source_asset_ids,
        "created_at": format_timestamp(ingredient.created_at),
        "updated_at": format_timestamp(ingredient.updated_at),
    }


def _photography_style(style: PhotographyStyle, links: Links) -> dict[str, Any]:
    previews = [links.picture(key) for key in style.picture_keys]
    return {**_ingredient(style), "description": style.description, "preview_image_urls": previews}


def _card(ingredient: Ingredient, links: Links) -> str:
    return links.picture(ingredient.picture_keys[0])


def _background(background: Background, links: Links) -> dict[str, Any]:
    return {
        **_ingredient(background),
        "description": background.description,
        "kind": background.background_kind,
        "card_image_url": _card(background, links),
    }


def _pose(pose: Pose, links: Links) -> dict[str, Any]:
    return {
        **_ingredient(pose),
        "description": pose.description,
        "card_image_url": _card(pose, links),
        "supported_camera_distances": pose.supported_camera_distances,
    }


def _fashion_model(model: FashionModel, links: Links) -> dict[str, Any]:
    return {
        **_ingredient(model),
        "age_range": model.age_range,
        "gender": model.gender,
        "card_image_url": _card(model, links),
    }


def _error(error: WorkError | None, links: Links) -> dict[str, Any] | None:
    if error is None:
        return None
    if links.sandbox.readings.error_members == "nulls":  # D31
        return {"code": None, "message": None, "retryable": None}
    return {"code": error.code, "message": error.message, "retryable": error.retryable}


def _operation(operation: Operation, links: Links) -> dict[str, Any]:
    kind = operation.ingredient_kind
    return {
        "object": "operation",
        "id": operation.id,
        "type": operation.type,
        "status": operation.status,
        "request": operation.request,
        "target": {"object": kind, "id": operation.target_id} if operation.target_id else None,
        "result": {"object": kind, "id": operation.result_id} if operation.result_id else None,
        "error": _error(operation.error, links),
        "credits": {"reserved": operation.reserved_credits, "charged": operation.charged_credits},
        "created_at": format_timestamp(operation.created_at),
        "updated_at": format_timestamp(operation.updated_at),
        "started_at": timestamp_or_none(operation.started_at),
        "finished_at": timestamp_or_none(operation.finished_at),
    }


def _output(output: Output, links: Links) -> dict[str, Any]:
    return {
        "status": output.status,
        "asset": {"id": output.asset_id} if output.asset_id else None,
        "error": _error(output.error, links),
    }


def _generation(generation: Generation, links: Links) -> dict[str, Any]:
    summary = {"total": len(generation.outputs), "pending": 0, "processing": 0, "completed": 0, "failed": 0}
    for output in generation.outputs:
        summary[output.status] += 1
    return {
        "object": "generation",
        "id": generation.id,
        "workflow": generation.workflow,
        "status": generation.status,
        "initiated_by": {
            "object": "api_credential",
            "id": generation.credential_id,
            "name": generation.credential_name,
        },
        "resolved_asset_ids": generation.resolved_asset_ids,
        "output_summary": summary,
        "outputs": [_output(output, links) for output in generation.outputs],
        "credits": {"reserved": generation.reserved_credits, "charged": generation.charged_credits},
        "request": generation.request,
        "created_at": format_timestamp(generation.created_at),
        "updated_at": format_timestamp(generation.updated_at),
        "started_at": timestamp_or_none(generation.started_at),
        "finished_at": timestamp_or_none(generation.finished_at),
    }


_RENDERERS: Mapping[type, Callable[[Any, Links], dict[str, Any]]] = {
    Standing: _team,
    UploadSession: _upload,
    Asset: _asset,
    AssetDeletion: _asset_deletion,
    Product: _product,
    PhotographyStyle: _photography_style,
    Background: _background,
    Pose: _pose,
    FashionModel: _fashion_model,
    Operation: _operation,
    Generation: _generation,
}

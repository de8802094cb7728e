"""How resources become JSON: the one place that writes JSON for `/v1`.

One function for each resource fills its body (`resource_bodies`).
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from image_workflow_emulator.domain.pagination import Page
from image_workflow_emulator.domain.resources import (
    Asset,
    Background,
    Credential,
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
from image_workflow_emulator.http.answers import JSON_TYPE, NOSNIFF, Answer, Header
from image_workflow_emulator.kernel.timestamps import (
    format_timestamp,
    timestamp_or_none,
)
from image_workflow_emulator.service.resources import uploads
from image_workflow_emulator.service.resources.products import AssetDeletion
from image_workflow_emulator.service.sandbox.calls import Caller
from image_workflow_emulator.web import resource_bodies as bodies
from image_workflow_emulator.web.links import Links


def json_answer(
    status: int,
    value: object,
    request_id: str,
    links: Links,
    headers: tuple[Header, ...] = (),
) -> Answer:
    """Render a resource, a page of them, or nothing (204)."""
    request_id_header = (b"request-id", request_id.encode())
    if value is None:
        return Answer(status, (request_id_header, *headers), b"")
    if isinstance(value, Page):
        body = _render_page(value, links)
    else:
        body = _render(value, links)
    length = (b"content-length", b"%d" % len(body))
    own_headers = (JSON_TYPE, NOSNIFF, length, request_id_header)
    return Answer(status, (*own_headers, *headers), body)


def _render_page(page: Page[Any], links: Links) -> bytes:
    try:
        rendered = [item.kept_bytes for item in page.items]
    except AttributeError:  # one of them was not rendered yet, or has links
        rendered = [_render(item, links) for item in page.items]
    page_body = bodies.PageBody(page.has_more, page.next_cursor)
    end = msgspec.json.encode(page_body)
    return b'{"data":[%b],"page":%b}' % (b",".join(rendered), end)


def _render(resource: Any, links: Links) -> bytes:
    """Return a resource as the JSON object that the contract describes."""
    if not isinstance(resource, RenderedOnce):
        fill_body = _BODIES[type(resource)]
        return msgspec.json.encode(fill_body(resource, links))
    # There are no links in what is rendered once.
    kept: bytes | None = getattr(resource, "kept_bytes", None)
    if kept is None:
        fill_body = _BODIES[type(resource)]
        body = fill_body(resource, links)
        kept = resource.keep(msgspec.json.encode(body))
    return kept


# The body of each resource ------------------------------------------------------------


def _team(caller: Caller, _links: Links) -> bodies.TeamBody:
    account = caller.account
    team = account.team
    credit_balance = account.ledger.available
    if caller.sandbox.readings.team_credits == "gross":  # D29
        credit_balance += account.ledger.reserved
    return bodies.TeamBody(
        id=team.id,
        name=team.name,
        credits=credit_balance,
        credential=_credential(caller.credential),
        capabilities=_capabilities(caller),
    )


def _credential(credential: Credential) -> bodies.CredentialBody:
    return bodies.CredentialBody(
        id=credential.id,
        name=credential.name,
        prefix=credential.prefix,
        profile=credential.profile,
        expires_at=format_timestamp(credential.expires_at),
    )


def _capabilities(caller: Caller) -> bodies.CapabilitiesBody:
    team = caller.account.team
    may_write = caller.credential.profile == "full"
    return bodies.CapabilitiesBody(
        api_access=True,  # D20
        subscription_active=team.subscription_active,
        creative_writes_allowed=team.subscription_active and may_write,
        api_concurrency=bodies.ConcurrencyBody(
            limit=team.concurrency_limit,
            used=caller.account.budget.used,
        ),
    )


def _upload(session: UploadSession, links: Links) -> bodies.UploadBody:
    return bodies.UploadBody(
        id=session.id,
        status="awaiting_upload",
        upload=bodies.DirectUploadBody(
            method="POST",
            url=links.upload(session),
            headers=uploads.headers(links.sandbox, session),
            expires_at=format_timestamp(session.expires_at),
            response=bodies.UploadResponseBody(
                "application/json",
                {"upload_token": "string"},
            ),
        ),
    )


def _asset(asset: Asset, links: Links) -> bodies.AssetBody:
    return bodies.AssetBody(
        id=asset.id,
        media_type="image",
        source=asset.source,
        source_generation_id=asset.source_generation_id,
        format=asset.format,
        width=asset.width,
        height=asset.height,
        size_bytes=links.sandbox.images.size_bytes(asset.id),
        url=links.picture(asset.id, asset.format),
        created_at=format_timestamp(asset.created_at),
    )


def _asset_deletion(deletion: AssetDeletion, _links: Links) -> bodies.AssetDeletionBody:
    return bodies.AssetDeletionBody(
        id=deletion.id,
        removed_product_memberships=deletion.removed_product_memberships,
        reassigned_primary_product_ids=deletion.reassigned_primary_product_ids,
        deleted_product_ids=deletion.deleted_product_ids,
    )


def _product(product: Product, _links: Links) -> bodies.ProductBody:
    return bodies.ProductBody(
        id=product.id,
        name=product.name,
        asset_ids=product.asset_ids,
        primary_asset_id=product.primary_asset_id,
        created_at=format_timestamp(product.created_at),
        updated_at=format_timestamp(product.updated_at),
        description=UNSET if product.description is None else product.description,
        dimensions=UNSET if product.dimensions is None else product.dimensions,
    )


def _style(
    style: PhotographyStyle,
    links: Links,
) -> bodies.PhotographyStyleBody:
    return bodies.PhotographyStyleBody(
        **_ingredient_members(style),
        description=style.description,
        preview_image_urls=[links.picture(key) for key in style.picture_keys],
    )


def _background(
    background: Background,
    links: Links,
) -> bodies.BackgroundBody:
    return bodies.BackgroundBody(
        **_ingredient_members(background),
        description=background.description,
        kind=background.background_kind,
        card_image_url=links.picture(background.picture_keys[0]),
    )


def _pose(pose: Pose, links: Links) -> bodies.PoseBody:
    return bodies.PoseBody(
        **_ingredient_members(pose),
        description=pose.description,
        card_image_url=links.picture(pose.picture_keys[0]),
        supported_camera_distances=pose.supported_camera_distances,
    )


def _fashion_model(
    model: FashionModel,
    links: Links,
) -> bodies.FashionModelBody:
    return bodies.FashionModelBody(
        **_ingredient_members(model),
        age_range=model.age_range,
        gender=model.gender,
        card_image_url=links.picture(model.picture_keys[0]),
    )


def _ingredient_members(ingredient: Ingredient) -> dict[str, Any]:
    """Return the members that the four kinds have in common."""
    return {
        "id": ingredient.id,
        "scope": ingredient.scope,
        "name": ingredient.name,
        "source_asset_ids": ingredient.source_asset_ids,
        "created_at": format_timestamp(ingredient.created_at),
        "updated_at": format_timestamp(ingredient.updated_at),
    }


def _operation(operation: Operation, links: Links) -> bodies.OperationBody:
    kind = operation.ingredient_kind
    return bodies.OperationBody(
        id=operation.id,
        type=operation.type,
        status=operation.status,
        request=operation.request,
        target=_reference(kind, operation.target_id),
        result=_reference(kind, operation.result_id),
        error=_error(operation.error, links),
        credits=_work_credits(operation),
        created_at=format_timestamp(operation.created_at),
        updated_at=format_timestamp(operation.updated_at),
        started_at=timestamp_or_none(operation.started_at),
        finished_at=timestamp_or_none(operation.finished_at),
    )


def _reference(kind: str, identifier: str | None) -> bodies.ReferenceBody | None:
    if identifier is None:
        return None
    return bodies.ReferenceBody(kind, identifier)


def _work_credits(work: Work) -> bodies.WorkCreditsBody:
    return bodies.WorkCreditsBody(
        reserved=work.reserved_credits,
        charged=work.charged_credits,
    )


def _generation(
    generation: Generation,
    links: Links,
) -> bodies.GenerationBody:
    return bodies.GenerationBody(
        id=generation.id,
        workflow=generation.workflow,
        status=generation.status,
        initiated_by=bodies.InitiatorBody(
            generation.credential_id,
            generation.credential_name,
        ),
        resolved_asset_ids=generation.resolved_asset_ids,
        output_summary=_output_summary(generation),
        outputs=[_output(output, links) for output in generation.outputs],
        credits=_work_credits(generation),
        request=generation.request,
        created_at=format_timestamp(generation.created_at),
        updated_at=format_timestamp(generation.updated_at),
        started_at=timestamp_or_none(generation.started_at),
        finished_at=timestamp_or_none(generation.finished_at),
    )


def _output_summary(generation: Generation) -> bodies.OutputSummaryBody:
    counts = Counter(output.status for output in generation.outputs)
    return bodies.OutputSummaryBody(
        total=len(generation.outputs),
        pending=counts["pending"],
        processing=counts["processing"],
        completed=counts["completed"],
        failed=counts["failed"],
    )


def _output(output: Output, links: Links) -> bodies.OutputBody:
    asset = None
    if output.asset_id is not None:
        asset = bodies.OutputAssetBody(output.asset_id)
    return bodies.OutputBody(
        status=output.status,
        asset=asset,
        error=_error(output.error, links),
    )


def _error(
    error: WorkError | None,
    links: Links,
) -> bodies.WorkErrorBody | None:
    if error is None:
        return None
    if links.sandbox.readings.error_members == "nulls":  # D31
        return bodies.WorkErrorBody(None, None, None)
    return bodies.WorkErrorBody(
        code=error.code,
        message=error.message,
        retryable=error.retryable,
    )


_BODIES: Final[Mapping[type, Callable[[Any, Links], Struct]]] = {
    Caller: _team,
    UploadSession: _upload,
    Asset: _asset,
    AssetDeletion: _asset_deletion,
    Product: _product,
    PhotographyStyle: _style,
    Background: _background,
    Pose: _pose,
    FashionModel: _fashion_model,
    Operation: _operation,
    Generation: _generation,
}
"""What fills the body of each resource."""

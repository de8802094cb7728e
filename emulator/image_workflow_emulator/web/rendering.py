"""The JSON of resources (section 2, D36), and the links in them (D15, D19): the one place that writes JSON for `/v1`.

Each resource is a list of members, in their order. A member shows the field of its name, an instant as a
timestamp. The function beside the list gives every other member.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.domain import resources
from image_workflow_emulator.domain.pagination import Page
from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.http.answers import (
    JSON_TYPE,
    NOSNIFF,
    Answer,
    Header,
    json_bytes,
)
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.surfaces import DIRECT_UPLOADS_PREFIX, FILES_PREFIX
from image_workflow_emulator.kernel.timestamps import (
    format_timestamp,
    timestamp_or_none,
)
from image_workflow_emulator.service.resources import uploads
from image_workflow_emulator.service.resources.products import AssetDeletion
from image_workflow_emulator.service.sandbox.calls import Caller
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

EXTENSIONS: dict[PictureFormat, str] = {"jpeg": "jpg", "png": "png", "webp": "webp"}
Object = dict[str, Any]


class Links:
    """Writes the links of one sandbox for the answer to one request. Most answers have none."""

    __slots__ = ("_request", "sandbox")

    def __init__(self, sandbox: Sandbox, request: Head) -> None:
        self.sandbox = sandbox
        self._request = request

    def resource(self, path: str) -> str:
        """Return the address under which the API has a resource, as a whole URL (D70)."""
        is_relative = self.sandbox.readings.location == "relative"
        return (
            BASE_PATH + path if is_relative else self._request.origin + BASE_PATH + path
        )

    def picture(self, key: str, image_format: PictureFormat = "png") -> str:
        """Return the public address of a picture: unguessable, and found without a credential."""
        secret = self.sandbox.images.pictures[key].secret
        return f"{self._request.origin}{FILES_PREFIX}{self.sandbox.id}/{key}-{secret}.{EXTENSIONS[image_format]}"

    def upload(self, session: resources.UploadSession) -> str:
        """Return the signed address that takes a session's bytes."""
        signature = uploads.signature(self.sandbox, session)
        return f"{self._request.origin}{DIRECT_UPLOADS_PREFIX}{self.sandbox.id}/{session.id}/{signature}"


def json_response(
    status: int,
    value: object,
    request_id: str,
    links: Links,
    headers: tuple[Header, ...] = (),
) -> Answer:
    """Render a resource, a page of them, or nothing (204)."""
    identified = (b"request-id", request_id.encode())
    if value is None:
        return Answer(status, (identified, *headers), b"")
    body = _page(value, links) if isinstance(value, Page) else _to_bytes(value, links)
    return Answer(
        status,
        (
            JSON_TYPE,
            NOSNIFF,
            (b"content-length", b"%d" % len(body)),
            identified,
            *headers,
        ),
        body,
    )


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
    kind, names, exceptions = _FORMS[type(value)]
    members: Object = {"object": kind}
    others = exceptions(value, links)
    for name in names:
        if name in others:
            members[name] = others[name]
        elif name in _INSTANTS:
            members[name] = timestamp_or_none(getattr(value, name))
        else:
            members[name] = getattr(value, name)
    rendered = json_bytes(members | others)
    # There are no links in what is rendered once.
    return (
        value.keep(rendered) if isinstance(value, resources.RenderedOnce) else rendered
    )


# Members that are no field of the resource, or have another form -----------------------------------------------------


def _team(caller: Caller, links: Links) -> Object:
    team, credential, ledger = (
        caller.account.team,
        caller.credential,
        caller.account.ledger,
    )
    is_gross = caller.sandbox.readings.team_credits == "gross"  # D29
    return {
        "id": team.id,
        "name": team.name,
        "credits": ledger.available + (ledger.reserved if is_gross else 0),
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
            "creative_writes_allowed": team.subscription_active
            and credential.profile == "full",
            "api_concurrency": {
                "limit": team.concurrency_limit,
                "used": caller.account.budget.used,
            },
        },
    }


def _upload(session: resources.UploadSession, links: Links) -> Object:
    recipe = {
        "method": "POST",
        "url": links.upload(session),
        "headers": uploads.headers(links.sandbox, session),
        "expires_at": format_timestamp(session.expires_at),
        "response": {
            "content_type": "application/json",
            "body": {"upload_token": "string"},
        },
    }
    return {"status": "awaiting_upload", "upload": recipe}


def _asset(asset: resources.Asset, links: Links) -> Object:
    size_bytes = links.sandbox.images.size_bytes(asset.id)
    return {
        "media_type": "image",
        "size_bytes": size_bytes,
        "url": links.picture(asset.id, asset.format),
    }


def _product(product: resources.Product, links: Links) -> Object:
    texts = {"description": product.description, "dimensions": product.dimensions}
    return {
        name: text for name, text in texts.items() if text is not None
    }  # D22: texts never given are left out


def _style(style: resources.PhotographyStyle, links: Links) -> Object:
    return {"preview_image_urls": [links.picture(key) for key in style.picture_keys]}


def _card(ingredient: resources.Ingredient, links: Links) -> Object:
    return {"card_image_url": links.picture(ingredient.picture_keys[0])}


def _background(background: resources.Background, links: Links) -> Object:
    return {"kind": background.background_kind, **_card(background, links)}


def _work(work: resources.Operation | resources.Generation, links: Links) -> Object:
    own = (
        _operation(work, links)
        if isinstance(work, resources.Operation)
        else _generation(work, links)
    )
    return {
        "credits": {"reserved": work.reserved_credits, "charged": work.charged_credits},
        **own,
    }


def _operation(operation: resources.Operation, links: Links) -> Object:
    kind, target, result = (
        operation.ingredient_kind,
        operation.target_id,
        operation.result_id,
    )
    return {
        "target": {"object": kind, "id": target} if target else None,
        "result": {"object": kind, "id": result} if result else None,
        "error": _error(operation.error, links),
    }


def _generation(generation: resources.Generation, links: Links) -> Object:
    summary = {
        "total": len(generation.outputs),
        "pending": 0,
        "processing": 0,
        "completed": 0,
        "failed": 0,
    }
    outputs = []
    for output in generation.outputs:
        summary[output.status] += 1
        asset = {"id": output.asset_id} if output.asset_id else None
        outputs.append(
            {
                "status": output.status,
                "asset": asset,
                "error": _error(output.error, links),
            }
        )
    credential = {
        "object": "api_credential",
        "id": generation.credential_id,
        "name": generation.credential_name,
    }
    return {"initiated_by": credential, "output_summary": summary, "outputs": outputs}


def _error(error: resources.WorkError | None, links: Links) -> Object | None:
    if error is None:
        return None
    if links.sandbox.readings.error_members == "nulls":  # D31
        return {"code": None, "message": None, "retryable": None}
    return {"code": error.code, "message": error.message, "retryable": error.retryable}


# The resources --------------------------------------------------------------------------------------------------------


Exceptions = Callable[[Any, Links], Object]


def _form(
    kind: str, names: str, exceptions: Exceptions = lambda value, links: {}
) -> tuple[str, list[str], Exceptions]:
    return kind, names.split(), exceptions


_INSTANTS = {"created_at", "updated_at", "started_at", "finished_at"}
_INGREDIENT = "id scope name source_asset_ids created_at updated_at "
_TIMES = " created_at updated_at started_at finished_at"
_FORMS: Mapping[type, tuple[str, list[str], Exceptions]] = {
    Caller: _form("team", "", _team),
    resources.UploadSession: _form("upload", "id status upload", _upload),
    resources.Asset: _form(
        "asset",
        "id media_type source source_generation_id format width height size_bytes url created_at",
        _asset,
    ),
    AssetDeletion: _form(
        "asset_deletion",
        "id removed_product_memberships reassigned_primary_product_ids deleted_product_ids",
    ),
    resources.Product: _form(
        "product", "id name asset_ids primary_asset_id created_at updated_at", _product
    ),
    resources.PhotographyStyle: _form(
        "photography_style", _INGREDIENT + "description preview_image_urls", _style
    ),
    resources.Background: _form(
        "background", _INGREDIENT + "description kind card_image_url", _background
    ),
    resources.Pose: _form(
        "pose",
        _INGREDIENT + "description card_image_url supported_camera_distances",
        _card,
    ),
    resources.FashionModel: _form(
        "fashion_model", _INGREDIENT + "age_range gender card_image_url", _card
    ),
    resources.Operation: _form(
        "operation",
        "id type status request target result error credits" + _TIMES,
        _work,
    ),
    resources.Generation: _form(
        "generation",
        "id workflow status initiated_by resolved_asset_ids output_summary outputs credits request"
        + _TIMES,
        _work,
    ),
}

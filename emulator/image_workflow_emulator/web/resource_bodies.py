"""The JSON of each resource, as the contract describes it (section 2, D36).

One class a schema, whose members are written in their order; instants are timestamps.
What fills them is in `rendering`.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType


class CredentialBody(Struct, frozen=True, tag_field="object", tag="api_credential"):
    """The API Credential of the caller."""

    id: str
    name: str
    prefix: str
    profile: str
    expires_at: str


class ConcurrencyBody(Struct, frozen=True):
    """The concurrency budget of a Team: places, and how many are taken (section 8)."""

    limit: int
    used: int


class CapabilitiesBody(Struct, frozen=True):
    """What the caller may do now (D20)."""

    api_access: bool
    subscription_active: bool
    creative_writes_allowed: bool
    api_concurrency: ConcurrencyBody


class TeamBody(Struct, frozen=True, tag_field="object", tag="team"):
    """A Team with the credential that asks."""

    id: str
    name: str
    credits: int
    credential: CredentialBody
    capabilities: CapabilitiesBody


class UploadResponseBody(Struct, frozen=True):
    """What the direct upload will answer with."""

    content_type: str
    body: dict[str, str]


class DirectUploadBody(Struct, frozen=True):
    """How the bytes of a session are sent (D15)."""

    method: str
    url: str
    headers: dict[str, str]
    expires_at: str
    response: UploadResponseBody


class UploadBody(Struct, frozen=True, tag_field="object", tag="upload"):
    """An Upload Session."""

    id: str
    status: str
    upload: DirectUploadBody


class AssetBody(Struct, frozen=True, tag_field="object", tag="asset"):
    """An Asset; `width` and `height` are in pixels."""

    id: str
    media_type: str
    source: str
    source_generation_id: str | None
    format: str
    width: int
    height: int
    size_bytes: int
    url: str
    created_at: str


class AssetDeletionBody(Struct, frozen=True, tag_field="object", tag="asset_deletion"):
    """What the deletion of an Asset did to Products."""

    id: str
    removed_product_memberships: int
    reassigned_primary_product_ids: Sequence[str]
    deleted_product_ids: Sequence[str]


class ProductBody(Struct, frozen=True, tag_field="object", tag="product"):
    """A Product. Texts that were never given are left out (D22)."""

    id: str
    name: str
    asset_ids: Sequence[str]
    primary_asset_id: str
    created_at: str
    updated_at: str
    description: str | UnsetType = UNSET
    dimensions: str | UnsetType = UNSET


class IngredientBody(Struct, frozen=True, tag_field="object", tag="ingredient"):
    """What the four kinds of ingredient have in common."""

    id: str
    scope: str
    name: str
    source_asset_ids: Sequence[str]
    created_at: str
    updated_at: str


class PhotographyStyleBody(IngredientBody, frozen=True, tag="photography_style"):
    """A Photography Style."""

    description: str
    preview_image_urls: Sequence[str]


class BackgroundBody(IngredientBody, frozen=True, tag="background"):
    """A Background."""

    description: str
    kind: str
    card_image_url: str


class PoseBody(IngredientBody, frozen=True, tag="pose"):
    """A Pose."""

    description: str
    card_image_url: str
    supported_camera_distances: Sequence[str]


class FashionModelBody(IngredientBody, frozen=True, tag="fashion_model"):
    """A Fashion Model."""

    age_range: str
    gender: str
    card_image_url: str


class WorkCreditsBody(Struct, frozen=True):
    """What work reserved and, once it has ended, what was charged (D29)."""

    reserved: int
    charged: int | None


class WorkErrorBody(Struct, frozen=True):
    """Why work or an output failed (D31)."""

    code: str | None
    message: str | None
    retryable: bool | None


class ReferenceBody(Struct, frozen=True):
    """An ingredient that an Operation is about, or has made (D27)."""

    object: str
    id: str


class OperationBody(Struct, frozen=True, tag_field="object", tag="operation"):
    """An Operation. `request` is the intent that was admitted (D28)."""

    id: str
    type: str
    status: str
    request: dict[str, Any]
    target: ReferenceBody | None
    result: ReferenceBody | None
    error: WorkErrorBody | None
    credits: WorkCreditsBody
    created_at: str
    updated_at: str
    started_at: str | None
    finished_at: str | None


class InitiatorBody(Struct, frozen=True, tag_field="object", tag="api_credential"):
    """The API Credential that ordered a Generation."""

    id: str
    name: str


class OutputAssetBody(Struct, frozen=True):
    """The Asset of a completed output."""

    id: str


class OutputBody(Struct, frozen=True):
    """One output slot of a Generation."""

    status: str
    asset: OutputAssetBody | None
    error: WorkErrorBody | None


class OutputSummaryBody(Struct, frozen=True):
    """How many outputs a Generation has in each state."""

    total: int
    pending: int
    processing: int
    completed: int
    failed: int


class GenerationBody(Struct, frozen=True, tag_field="object", tag="generation"):
    """A Generation. `request` is the intent that was admitted (D28)."""

    id: str
    workflow: str
    status: str
    initiated_by: InitiatorBody
    resolved_asset_ids: Sequence[str]
    output_summary: OutputSummaryBody
    outputs: Sequence[OutputBody]
    credits: WorkCreditsBody
    request: dict[str, Any]
    created_at: str
    updated_at: str
    started_at: str | None
    finished_at: str | None


class PageBody(Struct, frozen=True):
    """Where a list ends, and how its next page is asked for (D26)."""

    has_more: bool
    next_cursor: str


class UploadTokenBody(Struct, frozen=True):
    """What a direct upload answers with (D16)."""

    upload_token: str

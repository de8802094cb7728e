"""The resources of the service (section 2) as frozen data.

A change makes a new value; nothing here is edited in place.

Instants are milliseconds since the epoch. How a resource looks on the wire is the
business of the web room.

None of them can be part of a circle, so the garbage collector need not look at them
(`gc=False`): where there are many, a full collection, which stops everything else,
takes three quarters of the time.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from msgspec import Meta, Struct, structs

from image_workflow_emulator.domain.lifecycles import (
    OutputStatus,
    SessionStatus,
    WorkStatus,
)
from image_workflow_emulator.domain.recipes import IngredientKind, PictureFormat, Recipe

Scene = Literal["clean", "foreground"]
Profile = Literal["read_only", "full"]
CredentialState = Literal["active", "revoked"]

CameraDistance = Literal["close", "medium", "far"]
CAMERA_DISTANCES: tuple[CameraDistance, ...] = get_args(CameraDistance)
WORKFLOWS = ("product_photography", "edit_images", "upscale")
INGREDIENT_KINDS: tuple[IngredientKind, ...] = get_args(IngredientKind)
OPERATION_TYPES = (
    "photography_style.create",
    "photography_style.update",
    "background.create",
    "background.update",
    "pose.create",
    "pose.update",
    "fashion_model.create",
    "fashion_model.update",
)

# The ranges of values in saved states: msgspec checks them when a state file is read,
# and nothing else does. What is made inside the emulator is within them already.
_MAX_IN_JSON = 2**53 - 1
Instant: TypeAlias = Annotated[int, Meta(ge=0, le=_MAX_IN_JSON)]
"""Milliseconds since the epoch. A window that begins in the year 9999 may end after
it."""
Span: TypeAlias = Annotated[int, Meta(ge=0, le=_MAX_IN_JSON // 100)]
"""Milliseconds; several of them and an instant together are still an instant."""
Amount: TypeAlias = Annotated[int, Meta(ge=0, le=_MAX_IN_JSON)]
"""What somebody has set: Credits, limits, seconds."""
Count: TypeAlias = Annotated[int, Meta(ge=0, le=10**12)]
"""What the emulator has counted. The lower limit leaves room to count on."""
Key: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._~+/-]{1,300}=*$")]
"""An API key."""
_Edge: TypeAlias = Annotated[int, Meta(ge=1, le=100_000)]


def operation_id(verb: str, subject: str) -> str:
    """Return the id of the operation that does something with a kind of ingredient,
    such as `updateFashionModel`.
    """
    return verb + "".join(word.capitalize() for word in subject.split("_"))


def operation_admitting(work: str) -> str:
    """Return the id of the operation that admits a workflow or an Operation type."""
    subject, _, verb = work.partition(".")
    if not verb:
        return f"{operation_id('create', subject)}Generation"
    return operation_id(verb, subject)


class RenderedOnce:
    """Something that looks the same to every caller: its JSON is rendered once, and
    kept with it.

    The bytes are no part of its value: a changed resource is a new object, which has
    none yet.
    """

    __slots__ = ("kept_bytes",)
    kept_bytes: bytes

    def keep(self, rendered: bytes) -> bytes:
        """Keep the bytes of its JSON, and return them."""
        # Each heir is a Struct.
        structs.force_setattr(self, "kept_bytes", rendered)  # type: ignore[arg-type]
        return rendered


class Credential(Struct, frozen=True, gc=False):
    """An API Credential: acts as one Team, with one permission profile (section 5)."""

    id: str
    team_id: str
    key: Key
    name: str
    prefix: str
    profile: Profile
    expires_at: Instant
    state: CredentialState = "active"

    def state_at(self, now: int) -> Literal["active", "revoked", "expired"]:
        """Return what a request with it is taken for: a revoked one stays revoked past
        its expiry.
        """
        if self.state == "active" and now >= self.expires_at:
            return "expired"
        return self.state


class Team(Struct, frozen=True, gc=False):
    """The owner of resources. Its Credits are in its account's ledger, its work in
    progress in the budget there.
    """

    id: str
    name: str
    subscription_active: bool
    concurrency_limit: Amount
    requests_per_minute: Amount
    """The limit of each of its credentials (section 8)."""


class UploadSession(Struct, frozen=True, gc=False):
    """A place for bytes that have not become an Asset yet (D15 to D17)."""

    id: str
    team_id: str
    content_type: str
    size_bytes: Amount
    created_at: Instant
    expires_at: Instant
    status: SessionStatus = "awaiting_upload"
    digest: str | None = None
    """SHA-256 of the bytes it accepted."""


class Asset(Struct, frozen=True, gc=False):
    """A picture of the Team's, uploaded or generated. Its bytes are in the image store,
    under its id.
    """

    id: str
    team_id: str
    source: Literal["upload", "generation"]
    source_generation_id: str | None
    format: PictureFormat
    width: _Edge
    height: _Edge
    created_at: Instant


class Product(RenderedOnce, Struct, frozen=True, gc=False):
    """A group of one or more Product Photos, one of them primary (D22)."""

    id: str
    team_id: str
    name: str
    asset_ids: Annotated[tuple[str, ...], Meta(min_length=1)]
    primary_asset_id: str
    created_at: Instant
    updated_at: Instant
    description: str | None = None
    dimensions: str | None = None


class Ingredient(Struct, frozen=True, gc=False):
    """What the four kinds have in common. `team_id` is None for a premade global one;
    `version` counts its sources.

    Of each kind: its name, the prefix of its ids, and its number of pictures.
    """

    id: str
    team_id: str | None
    name: str
    source_asset_ids: tuple[str, ...]
    created_at: Instant
    updated_at: Instant
    version: Count = 1

    kind: ClassVar[IngredientKind]
    prefix: ClassVar[str]
    picture_count: ClassVar[int] = 1

    @property
    def picture_keys(self) -> list[str]:
        """The image store's keys of its pictures: one card, or a style's previews. A
        replaced source gives new ones.
        """
        prefix = f"{self.id}.{self.version}"
        return [f"{prefix}.{index}" for index in range(self.picture_count)]

    @property
    def scope(self) -> Literal["team", "global"]:
        """Whether a Team owns it, or it is premade (section 2)."""
        if self.team_id is None:
            return "global"
        return "team"


class PhotographyStyle(Ingredient, frozen=True, gc=False):
    """How light and mood are set; made from three Assets."""

    description: str = ""

    kind = "photography_style"
    prefix = "sty"
    picture_count = 3


class Background(Ingredient, frozen=True, gc=False):
    """What stands behind the subjects: a backdrop or a location."""

    description: str = "A background made from a picture."
    background_kind: Literal["backdrop", "location"] = "backdrop"

    kind = "background"
    prefix = "bkg"


class Pose(Ingredient, frozen=True, gc=False):
    """How a figure stands, and from how far it may be seen (D25)."""

    description: str = "A pose read from a picture."
    supported_camera_distances: tuple[CameraDistance, ...] = CAMERA_DISTANCES

    kind = "pose"
    prefix = "pos"


class FashionModel(Ingredient, frozen=True, gc=False):
    """Who wears the Product."""

    age_range: str = "25-35"
    gender: str = "neutral"

    kind = "fashion_model"
    prefix = "fmd"


INGREDIENT_TYPES: Mapping[str, type[Ingredient]] = {
    kind.kind: kind for kind in (PhotographyStyle, Background, Pose, FashionModel)
}


class WorkError(Struct, frozen=True, gc=False):
    """Why work or an output failed, without naming a provider (D31)."""

    code: str
    message: str
    retryable: bool


class Work(RenderedOnce, Struct, frozen=True, gc=False, kw_only=True):
    """What Operations and Generations have in common: work that is admitted, started
    and finished.
    """

    id: str
    team_id: str
    request: dict[str, Any]
    reserved_credits: Count
    created_at: Instant
    updated_at: Instant
    status: WorkStatus = "queued"
    charged_credits: Count | None = None
    started_at: Instant | None = None
    finished_at: Instant | None = None


class Operation(Work, frozen=True, gc=False, kw_only=True):
    """Authoring work on an ingredient (section 2). `outcome` was decided at admission,
    and stays hidden until it is due.
    """

    type: str
    target_id: str | None
    outcome: "OperationOutcome"
    result_id: str | None = None
    error: WorkError | None = None

    @property
    def ingredient_kind(self) -> str:
        """The kind of ingredient that the work makes or changes."""
        return self.type.partition(".")[0]


class OperationOutcome(Struct, frozen=True, gc=False):
    """The outcome of an Operation; `finishes_at` is None if it never finishes (a
    scenario stalls it).
    """

    starts_at: Instant
    finishes_at: Instant | None
    failure: WorkError | None
    charge: Count
    source_keys: tuple[str, ...]
    """The image store's keys of the source pictures, held until the work is
    finished."""


class Output(Struct, frozen=True, gc=False):
    """One output slot of a Generation; its place in the array is its slot (D36)."""

    status: OutputStatus = "pending"
    asset_id: str | None = None
    error: WorkError | None = None


class PlannedOutput(Struct, frozen=True, gc=False):
    """The outcome of an output slot, decided at admission; `finishes_at` is None if it
    never finishes.
    """

    finishes_at: Instant | None
    failure: WorkError | None
    picture: Recipe


class Generation(Work, frozen=True, gc=False, kw_only=True):
    """Creative work that makes pictures (section 2)."""

    workflow: str
    credential_id: str
    credential_name: str
    resolved_asset_ids: tuple[str, ...]
    outputs: tuple[Output, ...]
    starts_at: Instant
    plan: tuple[PlannedOutput, ...]


AnyResource: TypeAlias = (
    UploadSession | Asset | Product | Ingredient | Operation | Generation
)
"""What a collection holds: it has an id, and belongs to a Team unless it is a global
ingredient."""

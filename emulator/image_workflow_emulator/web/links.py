"""The links in answers: to resources, to picture files, and for direct uploads (D15, D19)."""

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.domain.resources import Asset, UploadSession
from image_workflow_emulator.http.requests import Request
from image_workflow_emulator.service.resources import uploads
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

FILES_PREFIX = "/files/"
DIRECT_UPLOADS_PREFIX = "/direct-uploads/"
EXTENSIONS: dict[PictureFormat, str] = {"jpeg": "jpg", "png": "png", "webp": "webp"}
MEDIA_TYPES = {"jpg": b"image/jpeg", "png": b"image/png", "webp": b"image/webp"}


class Links:
    """Writes the links of one sandbox for the answer to one request. Most answers have none."""

    __slots__ = ("_origin", "_request", "sandbox")

    def __init__(self, sandbox: Sandbox, request: Request) -> None:
        self.sandbox = sandbox
        self._request = request
        self._origin: str | None = None

    @property
    def origin(self) -> str:
        """The part of a link before its path, built for the first one."""
        if self._origin is None:
            self._origin = self._request.origin
        return self._origin

    def resource(self, path: str) -> str:
        """Return the address under which the API has a resource, as a whole URL (D70)."""
        is_relative = self.sandbox.readings.location == "relative"
        return BASE_PATH + path if is_relative else self.origin + BASE_PATH + path

    def picture(self, key: str, image_format: PictureFormat = "png") -> str:
        """Return the public address of a picture: unguessable, and found without a credential."""
        secret = self.sandbox.images.pictures[key].secret
        return f"{self.origin}{FILES_PREFIX}{self.sandbox.id}/{key}-{secret}.{EXTENSIONS[image_format]}"

    def asset(self, asset: Asset) -> str:
        """Return an Asset's public address."""
        return self.picture(asset.id, asset.format)

    def upload(self, session: UploadSession) -> str:
        """Return the signed address that takes a session's bytes."""
        signature = uploads.signature(self.sandbox, session)
        return f"{self.origin}{DIRECT_UPLOADS_PREFIX}{self.sandbox.id}/{session.id}/{signature}"

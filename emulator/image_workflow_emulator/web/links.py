"""The links in the answers of one sandbox (D15, D19, D70)."""

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.domain.resources import UploadSession
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.surfaces import DIRECT_UPLOADS_PREFIX, FILES_PREFIX
from image_workflow_emulator.service.resources import uploads
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

EXTENSIONS: dict[PictureFormat, str] = {
    "jpeg": "jpg",
    "png": "png",
    "webp": "webp",
}
"""The end of a file's name by the format of the picture."""


class Links:
    """Writes links for the answer to one request. Most answers have none."""

    __slots__ = ("_head", "sandbox")

    def __init__(self, sandbox: Sandbox, head: Head) -> None:
        self.sandbox = sandbox
        self._head = head

    def resource(self, path: str) -> str:
        """Return the address under which the API has a resource: a whole URL (D70)."""
        if self.sandbox.readings.location == "relative":
            return BASE_PATH + path
        return self._head.origin + BASE_PATH + path

    def picture(self, key: str, image_format: PictureFormat = "png") -> str:
        """Return the public address of a picture: unguessable, and found without a
        credential (D19).
        """
        secret = self.sandbox.images.pictures[key].secret
        extension = EXTENSIONS[image_format]
        name = f"{key}-{secret}.{extension}"
        return f"{self._head.origin}{FILES_PREFIX}{self.sandbox.id}/{name}"

    def upload(self, session: UploadSession) -> str:
        """Return the signed address that takes a session's bytes (D15)."""
        signature = uploads.signature(self.sandbox, session)
        path = f"{DIRECT_UPLOADS_PREFIX}{self.sandbox.id}/{session.id}/{signature}"
        return self._head.origin + path

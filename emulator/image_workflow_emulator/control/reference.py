"""The reference: Swagger UI over the contract, at `/_emulator/reference`.

Swagger UI writes styles into its document: that page alone has a wider policy.
"""

from typing import Final

from starlette.responses import Response

from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.page_files import FOLDER, html_response

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


def show_reference(call: ControlCall) -> Response:
    """GET /_emulator/reference: the contract, for people."""
    page = (FOLDER / "reference.html").read_text(encoding="utf-8")
    answer = html_response(call, page)
    answer.headers["Content-Security-Policy"] = _POLICY
    return answer

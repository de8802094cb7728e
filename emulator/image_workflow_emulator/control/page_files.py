"""The files of the page, and what the page may do in a browser.

The files, in `page/` beside this one, hold no data: what the page shows it asks for by
the other requests of the control plane, with the control token where one is set.
"""

from pathlib import Path
from typing import Final

from starlette.responses import Response

from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.kernel.wording import excerpt

FOLDER: Final = Path(__file__).with_name("page")
_MEDIA_TYPES: Final = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


def show_page(call: ControlCall) -> Response:
    """GET /_emulator."""
    page = FOLDER / "index.html"
    return html_response(call, page.read_text(encoding="utf-8"))


def show_file(call: ControlCall) -> Response:
    """GET /_emulator/page/{file}: one of the files that the page is made of.

    Raises:
        Problem: not_found.
    """
    name = call.parameters["file"]
    paths = {path.name: path for path in FOLDER.iterdir()}
    path = paths.get(name)
    if path is None or path.suffix not in _MEDIA_TYPES:
        raise Problem("not_found", f"{excerpt(name)}: the page has no such file")
    media_type = _MEDIA_TYPES[path.suffix]
    return Response(path.read_bytes(), media_type=media_type, headers=_HEADERS)


def html_response(call: ControlCall, content: str) -> Response:
    """Return a document, which says whether a token must be asked for before anything
    else is.
    """
    if call.plane.settings.control_token is not None:
        content = content.replace("<html ", "<html data-needs-token ", 1)
    return Response(content, media_type="text/html", headers=_HEADERS)

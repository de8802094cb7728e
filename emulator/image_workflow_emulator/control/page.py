"""The page's own files, read from disk when a browser asks for them: `page/` beside this file. They hold no data.

Owns what the page may do in a browser (its content security policy), and which addresses are files. What the page shows
it asks for by the other requests of the control plane, with the control token where one is set.
"""

import asyncio
from functools import lru_cache
from pathlib import Path
from typing import Final

from starlette.responses import Response

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.control import DOCUMENTS, PREFIX
from image_workflow_emulator.control.dispatch import ControlCall
from image_workflow_emulator.control.reference import reference_page
from image_workflow_emulator.documents import shipped_document
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.kernel.wording import excerpt

_FOLDER: Final = Path(__file__).with_name("page")
_MEDIA_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


def is_own_file(path: str) -> bool:
    """Tell whether a path leads to a file of the page, which needs no control token."""
    return path in DOCUMENTS or path.startswith(f"{PREFIX}/page/")


def show_page(call: ControlCall) -> Response:
    """GET /_emulator."""
    return _document(call, (_FOLDER / "index.html").read_text(encoding="utf-8"))


async def show_reference(call: ControlCall) -> Response:
    """GET /_emulator/reference: the contract, for people."""
    return _document(call, await asyncio.to_thread(_reference, call.plane.contract))


@lru_cache(maxsize=1)
def _reference(contract: Contract) -> str:
    return reference_page(contract, shipped_document("contract/decisions.yaml")["decisions"])


def show_file(call: ControlCall) -> Response:
    """GET /_emulator/page/{file}: one of the files that the page is made of. Raises Problem not_found."""
    name = call.parameters["file"]
    path = {file.name: file for file in _FOLDER.iterdir()}.get(name)
    if path is None or path.suffix not in _MEDIA_TYPES:
        raise Problem("not_found", f"{excerpt(name)}: the page has no such file")
    return Response(path.read_bytes(), media_type=_MEDIA_TYPES[path.suffix], headers=_HEADERS)


def _document(call: ControlCall, content: str) -> Response:
    """Return a document, which says whether a token must be asked for before anything else is."""
    if call.plane.settings.control_token is not None:
        content = content.replace("<html ", "<html data-needs-token ", 1)
    return Response(content, media_type="text/html", headers=_HEADERS)

"""Access to the control plane: clients with the control token, and no page of another origin.

A browser that runs a foreign page can reach this machine; every request of such a page is refused.
"""

import hmac
from typing import Final

from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.control.page import is_document, is_own_file
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.requests import Request
from image_workflow_emulator.kernel.wording import excerpt

HEALTH: Final = f"{PREFIX}/health"
"""Answered without the control token, so that a wait for readiness does not need it."""

_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_OWN_SITES: Final = ("same-origin", "none")


def check_origin(request: Request) -> None:
    """Refuse what a browser sends from a page of another origin; following a link to the page itself is allowed.

    Raises:
        Problem: permission_denied.
    """
    origin = _header(request, b"origin")
    if origin is not None and not _is_own(request, origin):
        raise Problem("permission_denied", f"Origin: found {excerpt(origin)}; expected none but the emulator's own")
    site = _header(request, b"sec-fetch-site")
    if site is not None and site not in _OWN_SITES and not _is_followed_link(request):
        raise Problem("permission_denied", f"Sec-Fetch-Site: found {excerpt(site)}; expected the emulator's own page")


def check_token(request: Request, token: str | None) -> None:
    """Require the control token, if there is one; health and the page's own files need none.

    Raises:
        Problem: authentication_required.
    """
    if token is None or request.path == HEALTH or is_own_file(request.path):
        return
    found = request.bearer_key()
    if found is None or not hmac.compare_digest(found.encode("latin-1"), token.encode()):
        shown = "none" if found is None else "another"
        expected = "expected `Bearer` and the control token"
        raise Problem("authentication_required", f"Authorization: found {shown}; {expected}", check=Check.CREDENTIAL)


def _header(request: Request, name: bytes) -> str | None:
    value = request.headers.get(name)
    return None if value is None else value.strip().decode("latin-1")


def _is_own(request: Request, origin: str) -> bool:
    """Tell whether an origin is the emulator's: the public address, or the one that this request came to.

    The latter is checked before (image_workflow_emulator.http.hosts).
    """
    authority = _authority(origin)
    scheme = origin.partition("://")[0].lower()
    host = (_header(request, b"host") or "").lower().removesuffix(_DEFAULT_PORTS.get(scheme, ""))
    return bool(authority) and authority in (host, request.public_authority)


def _authority(url: str) -> str:
    """Return host and port of an address, without a default port; empty if it has none."""
    scheme, _, rest = url.lower().partition("://")
    return rest.partition("/")[0].removesuffix(_DEFAULT_PORTS.get(scheme, ""))


def _is_followed_link(request: Request) -> bool:
    """Whether a person follows a link to the page from elsewhere: nothing changes, and the other page cannot read the answer."""
    mode, destination = _header(request, b"sec-fetch-mode"), _header(request, b"sec-fetch-dest")
    return request.method == "GET" and is_document(request.path) and (mode, destination) == ("navigate", "document")

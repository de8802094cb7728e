"""The check of every request before anything else: of its Host, and of the page for
which a browser sent it.

A web page can make its own host name resolve to this machine (DNS rebinding), and can
make a browser send requests here. So the Host of a request must be a name that nobody
else can give out, and a browser's request must not come from a page of another site.
Where a browser does not name the page, the answer says which pages may embed it.
"""

import re
from ipaddress import ip_address
from typing import Final

from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.answers import Header
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.settings import Settings

ANY_ORIGIN: Final = "*"
RESERVED_SUFFIXES: Final[tuple[str, ...]] = (".localhost", ".test")
"""Names under these cannot be registered (RFC 2606)."""
LOCAL_SUFFIXES: Final = (".local", ".internal", ".home.arpa")
"""Names under these cannot be registered either (RFC 6762, 8375), but any host in the
local network may give them out, like names without a dot.
"""
_SAME_SITE: Final[Header] = (b"cross-origin-resource-policy", b"same-site")
_ANY_SITE: Final[Header] = (b"cross-origin-resource-policy", b"cross-origin")
_SYNTAX: Final = re.compile(
    rb"[A-Za-z0-9._~-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?"
)
_OWN_PAGES: Final = (b"same-origin", b"none")
_OWN_SITES: Final = (*_OWN_PAGES, b"same-site")
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_KNOWN_HOSTS: Final = 100
"""Limit of the accepted values of `Host` that are cached."""


class Guard:
    """The names that the emulator answers to, and the pages that may use it."""

    def __init__(self, settings: Settings, *, trusts_network: bool) -> None:
        """`trusts_network`: accept local network names."""
        public_host = (settings.public_url or "").partition("://")[2].partition("/")[0]
        self._names = {
            _name_of(host) for host in (*settings.allowed_hosts, public_host)
        }
        self._origins = {
            origin if origin == ANY_ORIGIN else _origin_of(origin)
            for origin in settings.cors
        }
        self._trusts_network = trusts_network
        self._known: set[bytes] = set()

    def check_host(self, request: Head) -> None:
        """Accept requests that use an accepted name of the emulator.

        Raises:
            Problem: invalid_request without exactly one sound Host (RFC 9112),
                permission_denied for a foreign name.
        """
        host = request.headers.get(b"host")
        if b"host" in request.repeated:
            raise _unsound_host("more than one")
        if host in self._known:
            return
        if host is None:
            if request.http_version == "1.0":
                return
            raise _unsound_host("none")
        if not _SYNTAX.fullmatch(host):
            raise _unsound_host(excerpt(host.decode("latin-1")))
        if not self._is_own(_name_of(host.decode())):
            raise self._foreign_host(host)
        if len(self._known) < _KNOWN_HOSTS:
            self._known.add(host)

    def _foreign_host(self, host: bytes) -> Problem:
        suffixes = RESERVED_SUFFIXES
        without_dot = ""
        if self._trusts_network:
            suffixes = (*suffixes, *LOCAL_SUFFIXES)
            without_dot = " or without a dot"
        names = f"localhost, a name under {', '.join(suffixes)}{without_dot}"
        return Problem(
            "permission_denied",
            f"Host: found {excerpt(host.decode())}, a name that others could give out; "
            f"expected an IP address, {names}, or one allowed by --allowed-host or "
            "--public-url",
            check=Check.ROUTE,
        )

    def check_page(self, request: Head) -> None:
        """Refuse requests to the service that a browser sends for a page of another
        site, unless its origin is allowed.

        Raises:
            Problem: permission_denied.
        """
        site = request.headers.get(b"sec-fetch-site")
        if (
            site is not None
            and site.strip() not in _OWN_SITES
            and not self._allows_page(request)
        ):
            raise _foreign(
                "Sec-Fetch-Site",
                site,
                "a page of the emulator's own site, or none",
            )

    def check_own_page(self, request: Head, *, is_document: bool) -> None:
        """Refuse requests to the control plane that a browser sends for a page of
        another origin.

        Following a link to a document is allowed: nothing changes, and the other page
        cannot read the answer.

        Raises:
            Problem: permission_denied.
        """
        origin = request.headers.get(b"origin")
        own_origins = map(_origin_of, request.own_origins)
        if (
            origin is not None
            and _origin_of(origin.decode("latin-1")) not in own_origins
        ):
            raise _foreign(
                "Origin",
                origin,
                "none but the emulator's own: its address, or that of --public-url",
            )
        site = request.headers.get(b"sec-fetch-site")
        if site is None or site.strip() in _OWN_PAGES:
            return
        if not (is_document and _follows_link(request)):
            raise _foreign("Sec-Fetch-Site", site, "the emulator's own page")

    def picture_policy(self, request: Head) -> Header:
        """Return which pages may embed a picture: those of the same site, and of
        allowed origins.
        """
        return _ANY_SITE if self._allows_page(request) else _SAME_SITE

    def _is_own(self, name: str) -> bool:
        if (
            name == "localhost"
            or name in self._names
            or name.endswith(RESERVED_SUFFIXES)
            or _is_address(name)
        ):
            return True
        return self._trusts_network and (
            "." not in name or name.endswith(LOCAL_SUFFIXES)
        )

    def _allows_page(self, request: Head) -> bool:
        """Return whether the page's origin is allowed; a browser that loads a picture
        sends Referer, but no Origin.
        """
        named = request.headers.get(b"origin") or request.headers.get(b"referer", b"")
        return (
            ANY_ORIGIN in self._origins
            or _origin_of(named.decode("latin-1")) in self._origins
        )


def _unsound_host(found: str) -> Problem:
    expected = "expected one, the emulator's name or address"
    detail = f"Host: found {found}; {expected}"
    return Problem("invalid_request", detail, check=Check.ROUTE)


def _follows_link(request: Head) -> bool:
    """Return whether a browser opens what is asked for as a page."""
    mode = request.headers.get(b"sec-fetch-mode")
    destination = request.headers.get(b"sec-fetch-dest")
    return (
        request.method == "GET" and mode == b"navigate" and destination == b"document"
    )


def _foreign(
    header: str,
    found: bytes,
    expected: str,
) -> Problem:
    detail = f"{header}: found {excerpt(found.decode('latin-1'))}; expected {expected}"
    return Problem("permission_denied", detail, check=Check.ROUTE)


def _origin_of(url: str) -> str:
    """Return scheme, host and port of an address in lower case, without a default
    port.
    """
    scheme, _, rest = url.strip().lower().partition("://")
    host = rest.partition("/")[0]
    default_port = _DEFAULT_PORTS.get(scheme, "")
    return f"{scheme}://{host.removesuffix(default_port)}"


def _name_of(host: str) -> str:
    """Return the name in a Host: without the port, and without the dot that may end a
    complete name.
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].removesuffix(".").lower()


def _is_address(name: str) -> bool:
    """Return whether a name is a whole IP address, not a name whose last part is a
    number.
    """
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether a server that listens on a host is reached from this machine
    only.
    """
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)

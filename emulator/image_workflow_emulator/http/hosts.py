"""The check of every request before anything else: of its Host, and of the page for which a browser sent it.

A web page can make its own host name resolve to this machine (DNS rebinding), and can make a browser send requests
here. So the Host of a request must be a name that nobody else can give out, and a browser's request must not come from
another site. Where a browser does not say for which page it sends one, the answer says which pages may embed it. Knows no
surface.
"""

import re
from collections.abc import Collection
from ipaddress import ip_address
from typing import Final

from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.requests import Scope
from image_workflow_emulator.http.responses import Header
from image_workflow_emulator.kernel.wording import excerpt

ANY_ORIGIN: Final = "*"
RESERVED_SUFFIXES: Final = (".localhost", ".test")
"""Names under these cannot be registered (RFC 2606)."""
LOCAL_SUFFIXES: Final = (".local", ".internal", ".home.arpa")
"""Names under these cannot be registered either (RFC 6762, 8375), but whoever is in the local network may give them out,
like names without a dot."""
_OWN_SITE: Final[Header] = (b"cross-origin-resource-policy", b"same-site")
_ANY_SITE: Final[Header] = (b"cross-origin-resource-policy", b"cross-origin")
_SYNTAX: Final = re.compile(rb"[A-Za-z0-9._~-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")
_OWN_SITES: Final = (b"same-origin", b"same-site", b"none")
_KNOWN_HOSTS: Final = 100
"""Limit of the accepted values of `Host` that are cached."""


class Hosts:
    """The names that the emulator answers to, and the origins whose pages may use it."""

    def __init__(
        self,
        public_url: str | None = None,
        allowed_hosts: Collection[str] = (),
        origins: Collection[str] = (),
        *,
        trusts_network: bool = True,
    ) -> None:
        """`origins` are those whose pages may use the service, or `*`; `trusts_network` accepts names of the local network."""
        public_host = (public_url or "").partition("://")[2].partition("/")[0]
        self._names = {_name_of(host) for host in (*allowed_hosts, public_host)}
        self._origins = {origin.lower() for origin in origins}
        self._trusts_network = trusts_network
        self._known: set[bytes] = set()

    def check_host(self, scope: Scope) -> None:
        """Accept requests that use an accepted name of the emulator.

        Raises:
            Problem: invalid_request without exactly one sound Host (RFC 9112), permission_denied for a foreign name.
        """
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._known:
            self._check_hosts(hosts, scope.get("http_version", ""))

    def check_site(self, scope: Scope) -> None:
        """Refuse requests that a browser sends for a page of another site, unless its origin is allowed.

        Raises:
            Problem: permission_denied.
        """
        for name, value in scope["headers"]:
            if name == b"sec-fetch-site" and value.strip() not in _OWN_SITES and not self._is_let_in(scope):
                found = excerpt(value.decode("latin-1"))
                raise Problem(
                    "permission_denied",
                    f"Sec-Fetch-Site: found {found}; expected a page of the emulator's own site, or none",
                    check=Check.ROUTE,
                )

    def picture_policy(self, scope: Scope) -> Header:
        """Return which pages may embed a picture: those of the same site, and of allowed origins."""
        return _ANY_SITE if self._is_let_in(scope) else _OWN_SITE

    def _check_hosts(self, hosts: list[bytes], http_version: str) -> None:
        if not hosts and http_version == "1.0":
            return
        if len(hosts) != 1 or not _SYNTAX.fullmatch(hosts[0]):
            found = excerpt(hosts[0].decode("latin-1")) if len(hosts) == 1 else str(len(hosts) or "none")
            expected = "expected one, the emulator's name or address"
            raise Problem("invalid_request", f"Host: found {found}; {expected}", check=Check.ROUTE)
        host = hosts[0].decode()
        if not self._is_own(_name_of(host)):
            names = "localhost, a name under " + ", ".join(RESERVED_SUFFIXES)
            if self._trusts_network:
                names += ", ".join(("", *LOCAL_SUFFIXES)) + " or without a dot"
            raise Problem(
                "permission_denied",
                f"Host: found {excerpt(host)}, a name that others could give out; expected an IP address, {names}, or one "
                "allowed by --allowed-host or --public-url",
                check=Check.ROUTE,
            )
        if len(self._known) < _KNOWN_HOSTS:
            self._known.add(hosts[0])

    def _is_own(self, name: str) -> bool:
        if name == "localhost" or name in self._names or name.endswith(RESERVED_SUFFIXES) or _is_address(name):
            return True
        return self._trusts_network and ("." not in name or name.endswith(LOCAL_SUFFIXES))

    def _is_let_in(self, scope: Scope) -> bool:
        """Tell whether pages of an origin may use the service; a browser that loads a picture sends Referer, but no Origin."""
        if not self._origins:
            return False
        headers = dict(scope["headers"])
        named = headers.get(b"origin") or headers.get(b"referer", b"")
        scheme, _, rest = named.decode("latin-1").strip().lower().partition("://")
        return ANY_ORIGIN in self._origins or f"{scheme}://{rest.partition('/')[0]}" in self._origins


def _name_of(host: str) -> str:
    """Return the name in a Host: without the port, and without the dot that may end a complete name."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].removesuffix(".").lower()


def _is_address(name: str) -> bool:
    """Return whether a name is a whole IP address, not a name whose last part is a number."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether a server that listens on a host is reached from this machine only."""
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)

"""The check of every request before anything else: of its Host, and of the page for which a browser sent it.

A web page can make its own host name resolve to this machine (DNS rebinding), and can make a browser send requests
here. So the Host of a request must be a name that nobody else can register, and a browser's request must not come from
another site. Knows no surface.
"""

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from emulator.domain.problems import Check, Problem
from emulator.http.cors import ANY_ORIGIN
from emulator.http.requests import Scope
from emulator.kernel.wording import excerpt

PRIVATE_SUFFIXES: Final = (".localhost", ".local", ".internal", ".test", ".home.arpa")
"""Names under these cannot be registered (RFC 2606, 6762, 8375)."""
_SYNTAX: Final = re.compile(rb"[A-Za-z0-9._~-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")
_OWN_SITES: Final = (b"same-origin", b"same-site", b"none")
_KNOWN_HOSTS: Final = 100
"""Limit of the accepted values of `Host` that are cached."""


class Hosts:
    """The names that the emulator answers to, and the origins whose pages may use it."""

    def __init__(
        self, public_url: str | None = None, allowed_hosts: Collection[str] = (), origins: Collection[str] = ()
    ) -> None:
        """`origins` are those whose pages may use the service, or `*`."""
        public_host = (public_url or "").partition("://")[2].partition("/")[0]
        self._names = {_name_of(host) for host in (*allowed_hosts, public_host)}
        self._origins = {origin.lower() for origin in origins}
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

    def _check_hosts(self, hosts: list[bytes], http_version: str) -> None:
        if not hosts and http_version == "1.0":
            return
        if len(hosts) != 1 or not _SYNTAX.fullmatch(hosts[0]):
            found = excerpt(hosts[0].decode("latin-1")) if len(hosts) == 1 else str(len(hosts) or "none")
            expected = "expected one, the emulator's name or address"
            raise Problem("invalid_request", f"Host: found {found}; {expected}", check=Check.ROUTE)
        host = hosts[0].decode()
        if not self._is_own(_name_of(host)):
            raise Problem(
                "permission_denied",
                f"Host: found {excerpt(host)}, a name that anyone could register; expected an IP address, localhost, a name "
                f"without a dot or under {', '.join(PRIVATE_SUFFIXES)}, or one allowed by --allowed-host or --public-url",
                check=Check.ROUTE,
            )
        if len(self._known) < _KNOWN_HOSTS:
            self._known.add(hosts[0])

    def _is_own(self, name: str) -> bool:
        return "." not in name or name in self._names or name.endswith(PRIVATE_SUFFIXES) or _is_address(name)

    def _is_let_in(self, scope: Scope) -> bool:
        """Tell whether pages of an origin may use the service; a browser that loads a picture sends Referer, but no Origin."""
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
        IPv6Address(name) if ":" in name else IPv4Address(name)
    except ValueError:
        return False
    return True

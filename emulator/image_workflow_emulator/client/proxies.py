"""Proxies of the environment, which must not get requests to an emulator on this machine."""

from collections.abc import Iterable, Mapping
from typing import Final

LOCAL_HOSTS: Final = ("127.0.0.1", "localhost")


def no_proxy_variables(
    environment: Mapping[str, str],
    hosts: Iterable[str] = LOCAL_HOSTS,
) -> dict[str, str]:
    """Return NO_PROXY and no_proxy of an environment with hosts added.

    Programs read either of the two. Where one is not set, it has what the other has.
    """
    upper = environment.get("NO_PROXY", "")
    lower = environment.get("no_proxy", "")
    if not upper:
        upper = lower
    if not lower:
        lower = upper
    return {
        "NO_PROXY": _with_hosts(upper, hosts),
        "no_proxy": _with_hosts(lower, hosts),
    }


def _with_hosts(text: str, hosts: Iterable[str]) -> str:
    """Return a list of hosts with those added that it does not have; `*` is all."""
    names = [name.strip() for name in text.split(",")]
    listed = [name for name in names if name]
    if "*" in listed:
        return text
    for host in hosts:
        if host not in listed:
            listed.append(host)
    return ",".join(listed)

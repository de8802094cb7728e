"""Replicas behind HAProxy, as examples/scale configures them: every request arrives where its sandbox lives."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import Popen

import pytest

from tests.clients.generated import need
from tests.packaging.test_examples import free_port
from tests.support.served import ROOT, Server, serving
from tests.support.served_client import ServedClient

SANDBOXES = [f"branch-{number}" for number in range(100)]


@contextmanager
def proxy(ports: tuple[int, int], port: int, folder: Path) -> Iterator[str]:
    need("haproxy")
    text = (ROOT / "examples/scale/haproxy.cfg").read_text(encoding="utf-8")
    for shown, real in zip(("8038", "8041", "8042"), (port, *ports), strict=True):
        text = text.replace(f"127.0.0.1:{shown}\n", f"127.0.0.1:{real}\n")
    (folder / "haproxy.cfg").write_text(text)
    process = Popen(["haproxy", "-db", "-f", folder / "haproxy.cfg"])
    try:
        while True:
            with suppress(ConnectionError):
                if ServedClient(f"http://127.0.0.1:{port}").ask("GET", "/health").status == 200:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def create(url: str, name: str) -> str:
    """Create a sandbox, and return its key."""
    made = ServedClient(url).told("POST", "/sandboxes", {"id": name, "clock": "auto"})
    return str(made["env"]["IMAGE_WORKFLOW_API_KEY"])


def read_team(base_url: str, key: str) -> int:
    return ServedClient(base_url, key).get("/team").status


def journals(server: Server) -> dict[str, int]:
    """The number of requests in the journal of each sandbox of a replica, but those of `default`."""
    client = ServedClient(server.url)
    names = {sandbox["id"] for sandbox in client.told("GET", "/sandboxes")["data"]} - {"default"}
    return {name: client.told("GET", "/requests", sandbox=name)["total"] for name in names}


@pytest.mark.verify
def test_every_request_arrives_where_its_sandbox_lives_and_a_restart_loses_those_of_one_replica(tmp_path: Path) -> None:
    port, ports = free_port(), (free_port(), free_port())
    addresses = [f"http://127.0.0.1:{port}/replica-{number}" for number in range(2)]
    with ExitStack() as others, serving("--port", str(ports[0]), "--public-url", addresses[0]) as first:
        second = others.enter_context(serving("--port", str(ports[1]), "--public-url", addresses[1]))
        with proxy(ports, port, tmp_path) as url:
            keys = {name: create(url, name) for name in SANDBOXES}
            assert {200} == {read_team(f"{url}/v1", key) for key in keys.values() for _ in range(2)}
            here, there = journals(first), journals(second)
            assert dict.fromkeys(SANDBOXES, 2) == here | there
            assert min(len(here), len(there)) > 20
            base_urls = {name: f"{addresses[name in there]}/v1" for name in SANDBOXES}
            assert {200} == {read_team(base_urls[name], key) for name, key in keys.items()}

            others.close()
            assert {200} == {read_team(f"{url}/v1", keys[name]) for name in here}
            assert {503} == {read_team(f"{url}/v1", keys[name]) for name in there}
            others.enter_context(serving("--port", str(ports[1]), "--public-url", addresses[1]))
            assert {401} == {read_team(f"{url}/v1", keys[name]) for name in there}
            assert {200} == {read_team(f"{url}/v1", create(url, name)) for name in there}

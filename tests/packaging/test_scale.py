"""Replicas behind HAProxy, as examples/scale configures them: every request arrives where its sandbox lives."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import Popen

import httpx
import pytest

from tests.clients.generated import need
from tests.packaging.test_browser_tests import free_port
from tests.support.served import ROOT, Server, serving

CLIENT = httpx.Client()
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
            with suppress(httpx.ConnectError):
                if CLIENT.get(f"http://127.0.0.1:{port}/_emulator/health").is_success:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def create(url: str, name: str) -> dict[str, str]:
    answer = CLIENT.post(f"{url}/_emulator/sandboxes", json={"id": name, "clock": "auto"})
    assert answer.status_code == 201, answer.text
    env: dict[str, str] = answer.json()["env"]
    return env


def read_team(base_url: str, key: str) -> int:
    return CLIENT.get(f"{base_url}/team", headers={"Authorization": f"Bearer {key}"}).status_code


def journals(server: Server) -> dict[str, int]:
    """The number of requests in the journal of each sandbox of a replica, but those of `default`."""
    control = f"{server.url}/_emulator/sandboxes"
    names = {sandbox["id"] for sandbox in CLIENT.get(control).json()["data"]} - {"default"}
    return {name: CLIENT.get(f"{control}/{name}/requests").json()["total"] for name in names}


@pytest.mark.verify
def test_every_request_arrives_where_its_sandbox_lives_and_a_restart_loses_those_of_one_replica(tmp_path: Path) -> None:
    port, ports = free_port(), (free_port(), free_port())
    addresses = [f"http://127.0.0.1:{port}/replica-{number}" for number in range(2)]
    with ExitStack() as others, serving("--port", str(ports[0]), "--public-url", addresses[0]) as first:
        second = others.enter_context(serving("--port", str(ports[1]), "--public-url", addresses[1]))
        with proxy(ports, port, tmp_path) as url:
            keys = {name: create(url, name)["IMAGE_WORKFLOW_API_KEY"] for name in SANDBOXES}
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
            assert {200} == {read_team(f"{url}/v1", create(url, name)["IMAGE_WORKFLOW_API_KEY"]) for name in there}

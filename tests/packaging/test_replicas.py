"""The configuration of HAProxy in examples/scale, before two emulators."""

import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import Popen

import pytest

from tests.clients.generated import need
from tests.support.served import (
    ROOT,
    Server,
    free_port,
    serving,
)
from tests.support.served_client import ServedClient

SANDBOXES = [f"branch-{number}" for number in range(100)]


def answers(url: str) -> bool:
    with suppress(ConnectionError):
        return ServedClient(url).ask("GET", "/health").status == 200
    return False


@contextmanager
def proxy(
    ports: tuple[int, int],
    port: int,
    folder: Path,
) -> Iterator[str]:
    need("haproxy")
    text = (ROOT / "examples/scale/haproxy.cfg").read_text(encoding="utf-8")
    for shown, real in zip(("8038", "8041", "8042"), (port, *ports), strict=True):
        text = text.replace(f"127.0.0.1:{shown}\n", f"127.0.0.1:{real}\n")
    (folder / "haproxy.cfg").write_text(text)
    url = f"http://127.0.0.1:{port}"
    process = Popen(["haproxy", "-db", "-f", folder / "haproxy.cfg"])
    try:
        while not answers(url):
            time.sleep(0.05)
        yield url
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
    """The number of requests in the journal of each sandbox of a replica.

    The one that is always there is left out.
    """
    client = ServedClient(server.url)
    totals = {}
    for sandbox in client.told("GET", "/sandboxes")["data"]:
        name = sandbox["id"]
        if name != "default":
            totals[name] = client.told("GET", "/requests", sandbox=name)["total"]
    return totals


def read_teams(base_url: str, keys: Iterable[str]) -> set[int]:
    """Read the Team with each key, and return the statuses."""
    return {read_team(base_url, key) for key in keys}


class Replicas:
    """Two emulators behind a proxy, of which the second can be stopped."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Start both and the proxy, which run until the stack is closed."""
        port = free_port()
        self._ports = (free_port(), free_port())
        self.addresses = [
            f"http://127.0.0.1:{port}/replica-0",
            f"http://127.0.0.1:{port}/replica-1",
        ]
        self._second = stack.enter_context(ExitStack())
        self.first = stack.enter_context(self._serving(0))
        self.second = self.start_second()
        self.url = stack.enter_context(proxy(self._ports, port, folder))

    def start_second(self) -> Server:
        return self._second.enter_context(self._serving(1))

    def stop_second(self) -> None:
        self._second.close()

    def _serving(self, number: int) -> AbstractContextManager[Server]:
        port = str(self._ports[number])
        return serving("--port", port, "--public-url", self.addresses[number])


@pytest.fixture
def replicas(tmp_path: Path) -> Iterator[Replicas]:
    with ExitStack() as stack:
        yield Replicas(tmp_path, stack)


@pytest.mark.verify
def test_every_request_arrives_where_its_sandbox_lives(replicas: Replicas) -> None:
    base_url = f"{replicas.url}/v1"
    keys = {name: create(replicas.url, name) for name in SANDBOXES}

    for _ in range(2):
        assert read_teams(base_url, keys.values()) == {200}

    here = journals(replicas.first)
    there = journals(replicas.second)
    assert here | there == dict.fromkeys(SANDBOXES, 2)
    assert len(here) > 20
    assert len(there) > 20


@pytest.mark.verify
def test_the_address_of_a_replica_leads_to_its_sandboxes(replicas: Replicas) -> None:
    keys = {name: create(replicas.url, name) for name in SANDBOXES}

    for server, address in (
        (replicas.first, replicas.addresses[0]),
        (replicas.second, replicas.addresses[1]),
    ):
        own_keys = [keys[name] for name in journals(server)]

        assert read_teams(f"{address}/v1", own_keys) == {200}


@pytest.mark.verify
def test_a_restart_loses_the_sandboxes_of_one_replica(replicas: Replicas) -> None:
    base_url = f"{replicas.url}/v1"
    keys = {name: create(replicas.url, name) for name in SANDBOXES}
    here = journals(replicas.first)
    there = journals(replicas.second)
    keys_here = [keys[name] for name in here]
    keys_there = [keys[name] for name in there]

    replicas.stop_second()
    while_stopped = read_teams(base_url, keys_there)
    of_the_other = read_teams(base_url, keys_here)
    replicas.start_second()
    after_restart = read_teams(base_url, keys_there)
    made_again = [create(replicas.url, name) for name in there]

    assert while_stopped == {503}
    assert of_the_other == {200}
    assert after_restart == {401}
    assert read_teams(base_url, made_again) == {200}

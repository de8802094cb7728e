"""The configuration of HAProxy in examples/scale, before two emulators."""

import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import Popen

import pytest

from tests.clients.generated import need
from tests.packaging.pages import text_of
from tests.support.served import (
    ROOT,
    Server,
    free_port,
    serving,
)
from tests.support.served_client import ServedClient

SHOWN_PORTS = ("8038", "8041", "8042")
"""The ports in the example: of the proxy, and of the emulators behind it."""
SANDBOXES = [f"branch-{number}" for number in range(100)]


def answers(url: str) -> bool:
    client = ServedClient(url)
    with suppress(ConnectionError):
        health = client.ask("GET", "/health")
        return health.status == 200
    return False


@contextmanager
def proxy(
    ports: tuple[int, int],
    port: int,
    folder: Path,
) -> Iterator[str]:
    need("haproxy")
    text = text_of(ROOT / "examples/scale/haproxy.cfg")
    real_ports = (port, *ports)
    for shown_port, real_port in zip(SHOWN_PORTS, real_ports, strict=True):
        text = text.replace(f"127.0.0.1:{shown_port}\n", f"127.0.0.1:{real_port}\n")
    file = folder / "haproxy.cfg"
    file.write_text(text)
    url = f"http://127.0.0.1:{port}"
    process = Popen(["haproxy", "-db", "-f", file])
    try:
        while not answers(url):
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def create(url: str, name: str) -> str:
    """Create a sandbox, and return its key."""
    sandbox = ServedClient(url).make_sandbox(name, clock="auto")
    return str(sandbox["env"]["IMAGE_WORKFLOW_API_KEY"])


def journals(server: Server) -> dict[str, int]:
    """The number of requests in the journal of each sandbox of a replica.

    The one that is always there is left out.
    """
    client = ServedClient(server.url)
    totals: dict[str, int] = {}
    for sandbox in client.told("GET", "/sandboxes")["data"]:
        name = sandbox["id"]
        if name != "default":
            journal = client.told("GET", "/requests", sandbox=name)
            totals[name] = journal["total"]
    return totals


def read_teams(base_url: str, keys: Iterable[str]) -> set[int]:
    """Read the Team with each key, and return the statuses."""
    clients = [ServedClient(base_url, key) for key in keys]
    answers = [client.get("/team") for client in clients]
    return {answer.status for answer in answers}


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
        address = self.addresses[number]
        return serving("--port", port, "--public-url", address)


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

    servers = (replicas.first, replicas.second)
    for server, address in zip(servers, replicas.addresses, strict=True):
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

"""Where one program cannot be told from another, nothing is said: programs that open a connection for each request."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from email.message import Message
from http.client import HTTPConnection
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from image_workflow_emulator.testing import Emulator, Sandbox
from tests.examiner.test_false_alarms import admitted

MISSING: Final = "/products/prd_none"
LEFT_OPEN: Final = ("abandoned-upload",)
"""What these programs leave undone besides."""


def limited(sandbox: Sandbox, seconds: int, **operations: str) -> None:
    """Let some calls of operations be refused for some seconds."""
    rules = [
        {
            "match": {"operation": name},
            "when": {"nth": nth},
            "then": {"problem": "rate_limited", "retry_after": seconds},
        }
        for name, nth in operations.items()
    ]
    sandbox.use({"scenario": "limited", "rules": rules})


def get(sandbox: Sandbox, path: str) -> Message:
    """Read something, on a connection of its own, and return the headers of the answer."""
    url = urlsplit(sandbox.base_url + path)
    with closing(HTTPConnection(url.netloc)) as connection:
        connection.request("GET", url.path, headers={"Authorization": f"Bearer {sandbox.api_key}"})
        return connection.getresponse().headers


def post(sandbox: Sandbox, path: str, body: Any, key: str | None = None) -> Message:
    """Send a write, on a connection of its own, with a key of its own unless one is given."""
    url = urlsplit(sandbox.base_url + path)
    headers = {"Authorization": f"Bearer {sandbox.api_key}", "Idempotency-Key": key or str(uuid4())}
    with closing(HTTPConnection(url.netloc)) as connection:
        content = json.dumps(body)
        connection.request("POST", url.path, content, {**headers, "Content-Type": "application/json"})
        return connection.getresponse().headers


def two_programs_are_limited(sandbox: Sandbox) -> None:
    """Two programs, of which each waits as long as it is told."""
    limited(sandbox, 10, getTeam="1-9")
    for pause in (0, 3, 7, 3, 7):
        sandbox.clock.advance(pause)
        get(sandbox, "/team")


def two_programs_poll(sandbox: Sandbox) -> None:
    """Two programs wait for the same work, each as it is told."""
    path, due = admitted(sandbox), {0: 0.0, 1: 0.7}
    now = 0.0
    while due:
        program = min(due, key=lambda one: due[one])
        sandbox.clock.advance(due[program] - now)
        now = due[program]
        headers = get(sandbox, path)
        if "retry-after" in headers:
            due[program] += float(headers["retry-after"])
        else:
            del due[program]


def five_people_open_a_result(sandbox: Sandbox) -> None:
    """Five people open the same finished result."""
    path = admitted(sandbox)
    sandbox.clock.advance(30)
    for _ in range(5):
        get(sandbox, path)


def three_jobs_see_a_404(sandbox: Sandbox) -> None:
    """Three jobs ask once for what is missing."""
    for _ in range(3):
        get(sandbox, MISSING)


def hedged_write_is_refused(sandbox: Sandbox) -> None:
    """A program sends a write on two connections, of which one is limited: nothing was done, and it asks anew."""
    match = {"operation": "createProduct"}
    answers = [{"problem": "rate_limited", "retry_after": 1}, {"problem": "internal_error"}]
    rules = [{"match": match, "when": {"nth": nth}, "then": then} for nth, then in enumerate(answers, start=1)]
    sandbox.use({"scenario": "hedged", "rules": rules})
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    [asset] = sandbox.given.product("Hat")["asset_ids"]
    body = {"name": "Shirt", "asset_ids": [asset], "primary_asset_id": asset}
    with closing(httpx.Client(headers=headers)) as one, closing(httpx.Client(headers=headers)) as other:
        for client in (one, other):
            client.get(f"{sandbox.base_url}/team")
        for client, key, pause in ((one, "first", 0), (other, "first", 0), (one, "second", 9)):
            sandbox.clock.advance(pause)
            client.post(f"{sandbox.base_url}/products", json=body, headers={"Idempotency-Key": key})


def five_programs_do_the_same(sandbox: Sandbox) -> None:
    """Five programs do the same errand at the same time, each as it is told, and each asks for what is missing."""
    body = {"content_type": "image/png", "size_bytes": 100}
    limited(sandbox, 9, getTeam="2-4", createUpload="1-3")
    path, clock = admitted(sandbox), Lock()

    def wait(seconds: float) -> None:
        with clock:
            sandbox.clock.advance(seconds)

    def run(_: int) -> None:
        while "retry-after" in (headers := get(sandbox, "/team")):
            wait(float(headers["retry-after"]))
        key = str(uuid4())
        while "retry-after" in (headers := post(sandbox, "/uploads", body, key)):
            wait(float(headers["retry-after"]))
        get(sandbox, MISSING)
        while "retry-after" in (headers := get(sandbox, path)):
            wait(float(headers["retry-after"]))

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(run, range(5)))


def hammers(sandbox: Sandbox) -> None:
    """A program that does not wait, and opens a connection for each attempt."""
    limited(sandbox, 10, getTeam="1-9")
    for _ in range(10):
        get(sandbox, "/team")


def polls_at_once(sandbox: Sandbox) -> None:
    """A program that polls without a pause, on a connection each time."""
    path = admitted(sandbox)
    for _ in range(10):
        get(sandbox, path)
    sandbox.clock.advance(30)
    get(sandbox, path)


def polls_ten_times_as_often(sandbox: Sandbox) -> None:
    """A program that polls evenly, on a connection each time, and sees the end."""
    path = admitted(sandbox)
    told = float(get(sandbox, path)["retry-after"])
    for _ in range(19):
        sandbox.clock.advance(told / 10)
        get(sandbox, path)
    sandbox.clock.advance(30)
    get(sandbox, path)


def polls_each_second(sandbox: Sandbox) -> None:
    """A program that polls each second, whatever it is told."""
    path = admitted(sandbox)
    for _ in range(9):
        get(sandbox, path)
        sandbox.clock.advance(1)


def polls_for_completed_alone(sandbox: Sandbox) -> None:
    """A program that does not know that work can fail."""
    sandbox.use("all-outputs-fail")
    path = admitted(sandbox)
    sandbox.clock.advance(30)
    for _ in range(40):
        get(sandbox, path)
        sandbox.clock.advance(5)


def is_limited_and_takes_a_new_key(sandbox: Sandbox) -> None:
    """A program that is refused, and orders again after a second, under another key."""
    limited(sandbox, 9, createUpload="1")
    for _ in range(2):
        post(sandbox, "/uploads", {"content_type": "image/png", "size_bytes": 0x100})
        sandbox.clock.advance(1)


def asks_for_what_is_missing(sandbox: Sandbox) -> None:
    """A program that waits for something that is not there."""
    for _ in range(8):
        get(sandbox, MISSING)
        sandbox.clock.advance(2)


def repeats_a_422(sandbox: Sandbox) -> None:
    """A program that sends again what was refused for good, each time with a new key."""
    for _ in range(6):
        post(sandbox, "/products", {"name": "Shirt", "asset_ids": []})


def repeats_a_404(sandbox: Sandbox) -> None:
    """A program whose two workers repeat what is missing, by turns."""
    workers = [httpx.Client(headers={"Authorization": f"Bearer {sandbox.api_key}"}) for _ in range(2)]
    for _ in range(3):
        for worker in workers:
            worker.get(sandbox.base_url + MISSING)
    for worker in workers:
        worker.close()


SOUND: Final = (
    two_programs_are_limited,
    two_programs_poll,
    five_people_open_a_result,
    three_jobs_see_a_404,
    hedged_write_is_refused,
    five_programs_do_the_same,
)
UNSOUND: Final = {
    hammers: "retry-before-retry-after",
    polls_at_once: "poll-before-retry-after",
    polls_ten_times_as_often: "poll-before-retry-after",
    polls_each_second: "poll-before-retry-after",
    polls_for_completed_alone: "poll-after-terminal",
    is_limited_and_takes_a_new_key: "retry-before-retry-after",
    asks_for_what_is_missing: "retry-of-the-hopeless",
    repeats_a_422: "retry-of-the-hopeless",
    repeats_a_404: "retry-of-the-hopeless",
}


@pytest.mark.parametrize("act", SOUND, ids=lambda act: act.__name__)
def test_nobody_is_accused_of_what_another_program_did(server: Emulator, act: Callable[[Sandbox], None]) -> None:
    with server.sandbox(clock="manual") as sandbox:
        act(sandbox)
        found = [finding for finding in sandbox.conduct().findings if finding.rule not in LEFT_OPEN]
        assert [] == list(map(str, found))


@pytest.mark.parametrize(("act", "rule"), UNSOUND.items(), ids=lambda one: getattr(one, "__name__", None))
def test_one_program_is_found_whatever_its_connections(
    server: Emulator, act: Callable[[Sandbox], None], rule: str
) -> None:
    with server.sandbox(clock="manual") as sandbox:
        act(sandbox)
        found = sandbox.conduct()
        assert 0 < found.checked[rule]
        assert [rule] == [finding.rule for finding in found.findings if finding.rule not in LEFT_OPEN]

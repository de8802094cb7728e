"""Where one program cannot be told from another, nothing is said: programs that open a connection for each request."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Lock
from typing import Any, Final, NamedTuple

import httpx
import pytest

from image_workflow_emulator.testing import Sandbox
from tests.support.emulator_client import UPLOAD
from tests.support.served_client import ServedClient

MISSING: Final = "/products/prd_none"
WORK: Final = "the path of admitted work"
LEFT_OPEN: Final = "abandoned-upload"
"""What these programs leave undone besides."""
EARLY, POLLS_EARLY, HOPELESS = "retry-before-retry-after", "poll-before-retry-after", "retry-of-the-hopeless"


@pytest.fixture
def client(sandbox: Sandbox) -> ServedClient:
    """A client with a connection for each request."""
    return ServedClient(sandbox.base_url, sandbox.api_key)


def limited(seconds: int, **operations: str) -> dict[str, Any]:
    """Return a scenario that refuses some calls of operations for some seconds."""
    then = {"problem": "rate_limited", "retry_after": seconds}
    rules = [{"match": {"operation": name}, "when": {"nth": nth}, "then": then} for name, nth in operations.items()]
    return {"scenario": "limited", "rules": rules}


def found(sandbox: Sandbox) -> list[str]:
    return [finding.rule for finding in sandbox.conduct().findings if finding.rule != LEFT_OPEN]


class Reads(NamedTuple):
    """One path is read again and again, each time after a pause; and the rule that is found broken."""

    path: str
    pauses: Sequence[float]
    broken: list[str]
    scenario: Any = None


TEAM_IS_LIMITED: Final = limited(10, getTeam="1-9")
READS: Final = {
    "two programs wait as long as each is told": Reads("/team", [0, 3, 7, 3, 7], [], TEAM_IS_LIMITED),
    "five people open the same result": Reads(WORK, [30, 0, 0, 0, 0], []),
    "three jobs ask once for what is missing": Reads(MISSING, [0, 0, 0], []),
    "one does not wait": Reads("/team", [0] * 10, [EARLY], TEAM_IS_LIMITED),
    "one polls without a pause": Reads(WORK, [0] * 10 + [30], [POLLS_EARLY]),
    "one polls ten times as often as it is told": Reads(WORK, [0] + [0.1] * 19 + [30], [POLLS_EARLY]),
    "one polls each second": Reads(WORK, [0] + [1] * 8, [POLLS_EARLY]),
    "one polls for `completed` alone": Reads(WORK, [30] + [5] * 39, ["poll-after-terminal"], "all-outputs-fail"),
    "one waits for what is not there": Reads(MISSING, [0] + [2] * 7, [HOPELESS]),
}


@pytest.mark.parametrize("reads", READS.values(), ids=READS)
def test_reads_of_one_path_accuse_a_program_only_if_no_several_would_make_them(
    sandbox: Sandbox, client: ServedClient, reads: Reads
) -> None:
    if reads.scenario:
        sandbox.use(reads.scenario)
    path = f"/generations/{client.admitted_upscale()['id']}" if reads.path == WORK else reads.path
    for pause in reads.pauses:
        sandbox.clock.advance(pause)
        client.get(path)
    assert reads.broken == found(sandbox)
    assert all(sandbox.conduct().checked[rule] for rule in reads.broken)


@pytest.mark.parametrize(
    ("keeps_connections", "share", "broken"), [(False, 1.0, []), (True, 1.0, []), (True, 0.5, [POLLS_EARLY])]
)
def test_two_workers_at_the_same_work_are_judged_one_by_one(
    sandbox: Sandbox, client: ServedClient, keeps_connections: bool, share: float, broken: list[str]
) -> None:
    path = f"{sandbox.base_url}/generations/{client.admitted_upscale()['id']}"
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    with ExitStack() as stack:
        kept = [stack.enter_context(httpx.Client()) for _ in range(2)]
        due, now = [0.0, 0.7], 0.0
        while min(due) < 100:
            number = due.index(min(due))
            sandbox.clock.advance(due[number] - now)
            now = due[number]
            answer = kept[number].get(path, headers=headers if keeps_connections else headers | {"Connection": "close"})
            due[number] += share * float(answer.headers.get("retry-after", 1_000))
    assert broken == found(sandbox)


def hedges_a_write_that_is_refused(sandbox: Sandbox, client: ServedClient) -> None:
    """A program sends a write on two connections, of which one is limited: nothing was done, and it asks anew."""
    match = {"operation": "createProduct"}
    answers = [{"problem": "rate_limited", "retry_after": 1}, {"problem": "internal_error"}]
    rules = [{"match": match, "when": {"nth": nth}, "then": then} for nth, then in enumerate(answers, start=1)]
    sandbox.use({"scenario": "hedged", "rules": rules})
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    [asset] = sandbox.given.product("Hat")["asset_ids"]
    body = {"name": "Shirt", "asset_ids": [asset], "primary_asset_id": asset}
    with httpx.Client(headers=headers) as one, httpx.Client(headers=headers) as other:
        for kept in (one, other):
            kept.get(f"{sandbox.base_url}/team")
        for kept, key, pause in ((one, "first", 0), (other, "first", 0), (one, "second", 9)):
            sandbox.clock.advance(pause)
            kept.post(f"{sandbox.base_url}/products", json=body, headers={"Idempotency-Key": key})


def does_the_same_as_four_others(sandbox: Sandbox, client: ServedClient) -> None:
    """Five programs do the same errand at the same time, each as it is told, and each asks for what is missing."""
    path, clock = f"/generations/{client.admitted_upscale()['id']}", Lock()
    sandbox.use(limited(9, getTeam="2-4", createUpload="1-3"))

    def insist(ask: Callable[[], Any]) -> None:
        while (wait := ask().retry_after) is not None:
            with clock:
                sandbox.clock.advance(wait)

    def run(number: int) -> None:
        insist(lambda: client.get("/team"))
        insist(lambda: client.post("/uploads", UPLOAD, idempotency_key=f"of {number}"))
        client.get(MISSING)
        insist(lambda: client.get(path))

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(run, range(5)))


def takes_a_new_key_too_early(sandbox: Sandbox, client: ServedClient) -> None:
    sandbox.use(limited(9, createUpload="1"))
    for _ in range(2):
        client.post("/uploads", UPLOAD)
        sandbox.clock.advance(1)


def repeats_a_422(sandbox: Sandbox, client: ServedClient) -> None:
    """A program sends again what was refused for good, each time with a new key."""
    for _ in range(6):
        client.post("/products", {"name": "Shirt", "asset_ids": []})


def repeats_a_404_by_turns(sandbox: Sandbox, client: ServedClient) -> None:
    """Two workers of a program repeat what is missing."""
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    with httpx.Client(headers=headers) as one, httpx.Client(headers=headers) as other:
        for worker in (one, other) * 3:
            worker.get(sandbox.base_url + MISSING)


def repeats_a_hedged_write_once(sandbox: Sandbox, client: ServedClient) -> None:
    """A program sends a write, and then sends it again on two connections at once."""
    path = f"{sandbox.base_url}/uploads/upl_{0:038}/complete"
    headers = {"Authorization": f"Bearer {sandbox.api_key}", "Idempotency-Key": "one"}
    with httpx.Client(headers=headers) as one, httpx.Client(headers=headers) as other:
        one.get(f"{sandbox.base_url}/team")
        other.post(path)
        sandbox.clock.advance(9)
        one.post(path)
        other.post(path)


@pytest.mark.parametrize(
    ("act", "broken"),
    [
        (hedges_a_write_that_is_refused, []),
        (repeats_a_hedged_write_once, []),
        (does_the_same_as_four_others, []),
        (takes_a_new_key_too_early, [EARLY]),
        (repeats_a_422, [HOPELESS]),
        (repeats_a_404_by_turns, [HOPELESS]),
    ],
)
def test_a_program_is_found_by_what_it_did_itself(
    sandbox: Sandbox, client: ServedClient, act: Callable[[Sandbox, ServedClient], None], broken: list[str]
) -> None:
    act(sandbox, client)
    assert broken == found(sandbox)

"""One program is told from several by its requests: who polls too often, or repeats."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Final

import httpx
import pytest

from image_workflow_emulator.testing import Sandbox
from tests.support.emulator_client import UPLOAD, Answer
from tests.support.served_client import ServedClient

EARLY: Final = "retry-before-retry-after"
POLLS_EARLY: Final = "poll-before-retry-after"
HOPELESS: Final = "retry-of-the-hopeless"
LEFT_OPEN: Final = "abandoned-upload"
"""A finding about many of these programs, which is not the point here."""
MISSING: Final = "/products/prd_none"


@pytest.fixture
def client(sandbox: Sandbox) -> ServedClient:
    """A client with a connection for each request."""
    return ServedClient(sandbox.base_url, sandbox.api_key)


@pytest.fixture
def connections(sandbox: Sandbox) -> Iterator[list[httpx.Client]]:
    """Two workers of one program, each of which keeps its connection."""
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    first = httpx.Client(base_url=sandbox.base_url, headers=headers)
    second = httpx.Client(base_url=sandbox.base_url, headers=headers)
    with first, second:
        yield [first, second]


def rules_broken(sandbox: Sandbox) -> list[str]:
    findings = sandbox.conduct().findings
    return [finding.rule for finding in findings if finding.rule != LEFT_OPEN]


def limited(
    operation: str,
    nth: str,
    seconds: int = 10,
) -> dict[str, Any]:
    """Return a rule that refuses some calls of an operation for some seconds."""
    return {
        "match": {"operation": operation},
        "when": {"nth": nth},
        "then": {"problem": "rate_limited", "retry_after": seconds},
    }


def scenario(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"scenario": "limited", "rules": list(rules)}


def read(
    sandbox: Sandbox,
    client: ServedClient,
    path: str,
    pauses: Sequence[float],
) -> None:
    """Read a path once after each pause, each time on a connection of its own."""
    for pause in pauses:
        sandbox.clock.advance(pause)
        client.get(path)


# Each request on a connection of its own ----------------------------------------------


def test_two_programs_may_each_wait_as_they_are_told(
    sandbox: Sandbox,
    client: ServedClient,
) -> None:
    sandbox.use(scenario(limited("getTeam", "1-9")))

    read(sandbox, client, "/team", [0, 3, 7, 3, 7])

    assert rules_broken(sandbox) == []


def test_one_program_that_never_waits_is_found(
    sandbox: Sandbox,
    client: ServedClient,
) -> None:
    sandbox.use(scenario(limited("getTeam", "1-9")))

    read(sandbox, client, "/team", [0] * 10)

    assert rules_broken(sandbox) == [EARLY]
    assert sandbox.conduct().checked[EARLY] > 0


def test_five_people_may_open_the_same_result(
    sandbox: Sandbox,
    client: ServedClient,
) -> None:
    work = client.admitted_upscale()

    read(sandbox, client, f"/generations/{work['id']}", [30, 0, 0, 0, 0])

    assert rules_broken(sandbox) == []


@pytest.mark.parametrize(
    "pauses",
    [
        pytest.param(
            [0] * 10 + [30],
            id="without a pause",
        ),
        pytest.param(
            [0] + [0.1] * 19 + [30],
            id="ten times as often as it is told",
        ),
        pytest.param(
            [0] + [1] * 8,
            id="each second",
        ),
    ],
)
def test_one_program_that_polls_too_often_is_found(
    sandbox: Sandbox,
    client: ServedClient,
    pauses: list[float],
) -> None:
    work = client.admitted_upscale()

    read(sandbox, client, f"/generations/{work['id']}", pauses)

    assert rules_broken(sandbox) == [POLLS_EARLY]
    assert sandbox.conduct().checked[POLLS_EARLY] > 0


def test_one_program_that_polls_for_completed_alone_is_found(
    sandbox: Sandbox,
    client: ServedClient,
) -> None:
    sandbox.use("all-outputs-fail")
    work = client.admitted_upscale()

    read(sandbox, client, f"/generations/{work['id']}", [30] + [5] * 39)

    assert rules_broken(sandbox) == ["poll-after-terminal"]


def test_three_jobs_may_ask_once_for_what_is_missing(
    sandbox: Sandbox,
    client: ServedClient,
) -> None:
    read(sandbox, client, MISSING, [0, 0, 0])

    assert rules_broken(sandbox) == []


def test_one_program_that_waits_for_what_is_missing_is_found(
    sandbox: Sandbox,
    client: ServedClient,
) -> None:
    read(sandbox, client, MISSING, [0] + [2] * 7)

    assert rules_broken(sandbox) == [HOPELESS]
    assert sandbox.conduct().checked[HOPELESS] > 0


def test_a_429_that_is_answered_by_a_new_key_too_early_is_found(
    sandbox: Sandbox,
    client: ServedClient,
) -> None:
    sandbox.use(scenario(limited("createUpload", "1")))

    client.post("/uploads", UPLOAD)
    sandbox.clock.advance(1)
    client.post("/uploads", UPLOAD)
    sandbox.clock.advance(1)

    assert rules_broken(sandbox) == [EARLY]


def test_a_422_that_is_repeated_with_new_keys_is_found(
    sandbox: Sandbox,
    client: ServedClient,
) -> None:
    for _ in range(6):
        client.post("/products", {"name": "Shirt", "asset_ids": []})

    assert rules_broken(sandbox) == [HOPELESS]


def test_five_programs_may_do_the_same_errand_at_the_same_time(
    sandbox: Sandbox,
    client: ServedClient,
) -> None:
    work = client.admitted_upscale()
    path = f"/generations/{work['id']}"
    limited_reads = limited("getTeam", "2-4", 9)
    limited_uploads = limited("createUpload", "1-3", 9)
    sandbox.use(scenario(limited_reads, limited_uploads))
    clock = Lock()

    def insist(ask: Callable[[], Answer]) -> None:
        """Ask until there is nothing to wait for, and wait as told."""
        seconds = ask().retry_after
        while seconds is not None:
            with clock:
                sandbox.clock.advance(seconds)
            seconds = ask().retry_after

    def run_errand(number: int) -> None:
        key = f"of {number}"
        insist(lambda: client.get("/team"))
        insist(lambda: client.post("/uploads", UPLOAD, idempotency_key=key))
        client.get(MISSING)
        insist(lambda: client.get(path))

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(run_errand, range(5)))

    assert rules_broken(sandbox) == []


# Workers with connections of their own ------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Connection": "close"}, id="a connection for each request"),
        pytest.param({}, id="kept connections"),
    ],
)
def test_two_workers_may_poll_the_same_work_as_each_is_told(
    sandbox: Sandbox,
    client: ServedClient,
    connections: list[httpx.Client],
    headers: dict[str, str],
) -> None:
    work = client.admitted_upscale()

    poll_in_turns(sandbox, connections, f"/generations/{work['id']}", headers)

    assert rules_broken(sandbox) == []


def test_two_workers_that_wait_half_as_long_are_found(
    sandbox: Sandbox,
    client: ServedClient,
    connections: list[httpx.Client],
) -> None:
    work = client.admitted_upscale()

    poll_in_turns(
        sandbox,
        connections,
        path=f"/generations/{work['id']}",
        headers={},
        share=0.5,
    )

    assert rules_broken(sandbox) == [POLLS_EARLY]


def poll_in_turns(
    sandbox: Sandbox,
    connections: list[httpx.Client],
    path: str,
    headers: dict[str, str],
    share: float = 1.0,
) -> None:
    """Let two workers read work, each after a share of what its last answer asks."""
    now = 0.0
    due = [0.0, 0.7]
    while min(due) < 100:
        worker = due.index(min(due))
        sandbox.clock.advance(due[worker] - now)
        now = due[worker]
        answer = connections[worker].get(path, headers=headers)
        retry_after = float(answer.headers.get("retry-after", 1_000))
        due[worker] += share * retry_after


def test_two_workers_that_repeat_a_404_by_turns_are_found(
    sandbox: Sandbox,
    connections: list[httpx.Client],
) -> None:
    for worker in connections * 3:
        worker.get(MISSING)

    assert rules_broken(sandbox) == [HOPELESS]


def test_a_write_that_is_sent_twice_to_be_quick_may_be_repeated(
    sandbox: Sandbox,
    connections: list[httpx.Client],
) -> None:
    first, second = connections
    path = f"/uploads/upl_{0:038}/complete"
    headers = {"Idempotency-Key": "one"}
    first.get("/team")
    second.post(path, headers=headers)
    sandbox.clock.advance(9)

    first.post(path, headers=headers)
    second.post(path, headers=headers)

    assert rules_broken(sandbox) == []


def test_a_write_of_two_that_were_refused_may_be_ordered_anew(
    sandbox: Sandbox,
    connections: list[httpx.Client],
) -> None:
    first, second = connections
    broken = {
        "match": {"operation": "createProduct"},
        "when": {"nth": 2},
        "then": {"problem": "internal_error"},
    }
    sandbox.use(scenario(limited("createProduct", "1", 1), broken))
    [asset] = sandbox.given.product("Hat")["asset_ids"]
    body = {
        "name": "Shirt",
        "asset_ids": [asset],
        "primary_asset_id": asset,
    }
    first_key = {"Idempotency-Key": "first"}
    new_key = {"Idempotency-Key": "second"}
    first.get("/team")
    second.get("/team")

    first.post("/products", json=body, headers=first_key)
    second.post("/products", json=body, headers=first_key)
    sandbox.clock.advance(9)
    first.post("/products", json=body, headers=new_key)

    assert rules_broken(sandbox) == []

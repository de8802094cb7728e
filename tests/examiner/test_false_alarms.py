"""What looks like a misdeed and is none, and what is one though it hides.

Clients that were misjudged once, and sound ones: these stay clean, whatever their
habits, under every scenario of the library.
"""

import itertools
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from msgspec import structs

from image_workflow_emulator.testing import Emulator, Sandbox
from tests.examiner.example_client import ONCE, POLL, SEND, errands, load, play
from tests.examiner.rule_examples import (
    LIBRARY,
    SEE,
    SLOW,
    Ask,
    Example,
    ExampleClient,
    Step,
    Wait,
    rules_found,
    upscale,
)
from tests.support.emulator_under_test import EmulatorUnderTest

ORDER: Final = upscale("one")
ORDER_WITHOUT_KEY: Final = Ask("POST", ORDER.path, ORDER.body)
OTHER_WRITE: Final = Ask(
    method="POST",
    path="/products",
    body={"name": "Shirt", "asset_ids": ("{asset}",)},
    key="another",
)
LOOK: Final = Ask("GET", "{work}")


def failing(nth: int | str, at: str = "after_commit") -> tuple[Mapping[str, Any]]:
    """Return the rule by which some orders are answered with 500."""
    return (
        {
            "match": {"operation": "createUpscaleGeneration"},
            "when": {"nth": nth},
            "then": {"problem": "internal_error", "at": at},
        },
    )


def retried(attempts: int) -> tuple[Step, ...]:
    """Return an order that is sent again and again, each time after twice the wait."""
    steps: list[Step] = []
    for number in range(attempts):
        steps.append(ORDER)
        steps.append(Wait(2**number))
    return tuple(steps)


def by_other_program(ask: Ask) -> Ask:
    """Return a request as another program with the same credential sends it."""
    return structs.replace(ask, headers={"User-Agent": "other/1"})


def product_of(asset: str, key: str) -> Ask:
    """Return the creation of a Product, which is refused if there is no such Asset."""
    body = {
        "name": "Hat",
        "asset_ids": (asset,),
        "primary_asset_id": asset,
    }
    return Ask("POST", "/products", body, key)


def refused(key: str) -> Ask:
    return product_of("ast_none", key)


def accepted(key: str) -> Ask:
    return product_of("{asset}", key)


LIST: Final = Ask("GET", "/products")
POSE: Final = Ask(
    method="POST",
    path="/poses",
    body={"name": "Walk", "asset_id": "{asset}"},
    key="pose",
)
DELETE_PHOTO: Final = Ask("DELETE", "/assets/{asset}")
SLOW_POSES: Final = {
    "match": {"work": "pose.create"},
    "then": {"duration": "10m"},
}

SOUND: Final = {
    "looks, and stops before the work has ended": Example(
        steps=[ORDER, Wait(2), LOOK],
    ),
    "reads the result again every quarter of an hour": Example(
        steps=[ORDER, Wait(10), *(LOOK, Wait(900)) * 5],
    ),
    "is started anew after a lost answer, under another name": Example(
        steps=[
            ORDER,
            by_other_program(ORDER),
            Wait(20),
            by_other_program(LOOK),
        ],
        rules=failing(1),
    ),
    "waits longer each time, by the emulator's clock alone": Example(
        steps=[*retried(7), LOOK],
        rules=failing("1-6"),
    ),
    "gives up after two failures, orders something else, and the same later": Example(
        steps=[*retried(2), OTHER_WRITE, upscale("two"), *SEE],
        rules=failing("1-2"),
    ),
    "gives up after three failures, and orders the same later": Example(
        steps=[*retried(3), upscale("two"), *SEE],
        rules=failing("1-3", at="before_commit"),
    ),
    "changes something before each repetition of what was refused": Example(
        steps=[
            refused("a"),
            accepted("b"),
            refused("c"),
            accepted("d"),
            refused("e"),
        ],
    ),
    "asks at equal intervals while an Operation is in the way": Example(
        steps=[POSE, *(DELETE_PHOTO, Wait(20)) * 6, LOOK],
        rules=[SLOW_POSES],
    ),
}
UNSOUND: Final = {
    "double-spend": Example(
        steps=[*retried(2), upscale("two"), *SEE],
        rules=failing("1-2"),
    ),
    "no-backoff": Example(
        steps=[*(ORDER, Wait(1)) * 7, *SEE],
        rules=failing("1-6"),
    ),
    "key-not-sent-again": Example(
        steps=[ORDER, ORDER_WITHOUT_KEY],
        rules=failing(1),
    ),
    "retry-of-the-hopeless": Example(
        steps=[
            refused("a"),
            LIST,
            refused("b"),
            LIST,
            refused("c"),
        ],
    ),
}


@pytest.mark.parametrize("example", SOUND.values(), ids=SOUND)
def test_a_sound_client_raises_no_alarm(
    emulator: EmulatorUnderTest,
    example: Example,
) -> None:
    ExampleClient(emulator).play(example)

    assert rules_found(emulator) == []


@pytest.mark.parametrize(("rule", "example"), UNSOUND.items(), ids=UNSOUND)
def test_an_unsound_client_is_found(
    emulator: EmulatorUnderTest,
    rule: str,
    example: Example,
) -> None:
    ExampleClient(emulator).play(example)

    assert rules_found(emulator) == [rule]


# Under every scenario -----------------------------------------------------------------

LINKS: Final = "self._links = httpx.Client(timeout=timeout, verify=CERTIFICATES)"
SECOND: Final = """
        self._second = httpx.Client(
            base_url=base_url,
            headers=headers,
            timeout=timeout,
            verify=CERTIFICATES,
        )
"""
CLOSING: Final = "self._links.close()"
PATIENCE: Final = "patience: float = 1200.0"
SEND_TWICE: Final = """\
            from concurrent.futures import ThreadPoolExecutor

            clients = (self._api, self._second) if headers else (self._api,)
            content = {"json": body, "params": query}
            with ThreadPoolExecutor(2) as pool:
                sent = [
                    pool.submit(one.request, method, path, headers=headers, **content)
                    for one in clients
                ]
            answers = [one.result() for one in sent if one.exception() is None]
            if not answers:
                raise httpx.ReadError("neither was answered")
            return min(answers, key=lambda answer: answer.status_code)
"""

HABITS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "waits as told": (),
    "looks at its work every eleven minutes": (
        (POLL, "pause = 660.0"),
        (PATIENCE, "patience: float = 20_000.0"),
    ),
    "sends every write a second time, with the same key, and takes the better answer": (
        (LINKS, LINKS + SECOND.rstrip()),
        (CLOSING, f"{CLOSING}\n        self._second.close()"),
        (SEND, SEND_TWICE),
    ),
    "tries twice, looks for a minute, and then tells its user": (
        (ONCE[0], "attempts: int = 2"),
        (PATIENCE, "patience: float = 61.0"),
    ),
}
"""The changes of the example client's source, by what it does then."""

SPEED: Final = 60
"""The rate of a clock that runs by itself, by which the client's pauses are shorter."""
RUNNING: Final = f"x{SPEED}"
MOVED: Final = ("manual", "auto")
"""The clocks that the client's pauses move."""
CASES: Final = [
    *itertools.product(LIBRARY, HABITS, MOVED),
    *itertools.product(LIBRARY, ["waits as told"], [RUNNING]),
]
"""Each scenario with each habit and clock."""


def parameters() -> list[Any]:
    """Return all cases; but for some of each habit, `make verify` alone plays them."""
    marked: list[Any] = []
    for number, case in enumerate(CASES):
        scenario, _, clock = case
        is_quick = scenario not in SLOW and clock in MOVED
        if is_quick and number % 19 == 0:
            marked.append(pytest.param(*case))
        else:
            marked.append(pytest.param(*case, marks=pytest.mark.verify))
    return marked


def pause_of(sandbox: Sandbox, clock: str) -> Callable[[float], object]:
    """Return how a client pauses: by moving the clock, or by waiting for it."""
    if clock in MOVED:
        return sandbox.clock.advance
    return lambda seconds: time.sleep(seconds / SPEED)


@pytest.mark.parametrize(("scenario", "habit", "clock"), parameters())
def test_a_sound_client_is_clean_under_a_scenario(
    server: Emulator,
    scenario: str,
    habit: str,
    clock: str,
) -> None:
    is_auto = clock == "auto"
    with server.sandbox(
        scenario=scenario,
        clock=clock,
        evolution=is_auto,
    ) as sandbox:
        client = load(*HABITS[habit])
        pause = pause_of(sandbox, clock)

        play(client, sandbox, errands, pause)

        conduct = sandbox.conduct()
        findings = [str(finding) for finding in conduct.findings]
        assert findings == []

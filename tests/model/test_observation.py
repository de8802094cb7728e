"""Each check of what must always be true can fail: it lets a right observation pass, and no spoiled one."""

from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from emulator.service.sandbox import DEFAULT_SANDBOX_ID, Sandbox
from tests.model import observation
from tests.model.arithmetic import KEY_RETENTION, Json
from tests.model.comparison import Comparison
from tests.model.playing import draw_plainly
from tests.model.service_model import Ask
from tests.model.side_by_side import ANOTHER, SandboxesSideBySide
from tests.support.emulator_client import Answer

Seen = dict[str, list[Json]]


@pytest.fixture
def sandboxes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SandboxesSideBySide]:
    """The default sandbox, with something of everything, and work that has completed and failed."""
    monkeypatch.setattr("emulator.imaging.helpers.Helpers.run", draw_plainly)
    with closing(SandboxesSideBySide(tmp_path, lambda text: None)) as sandboxes:
        sandboxes.begin()
        comparison = sandboxes.clients[DEFAULT_SANDBOX_ID].comparison
        (photo, *_) = comparison.model.ids("asset", "Ash")
        body = {"asset_id": photo, "target_resolution": "2k", "output_format": "png"}
        comparison.run_scenario(
            {"rules": [{"match": {"work": "*"}, "when": {"nth": "2"}, "then": {"fail": "timed_out"}}]}, None
        )
        for key in ("one", "two"):
            comparison.ask(Ask("ash_full", "POST", "/generations/upscale", body, key))
        comparison.advance({"seconds": 6})
        comparison.ask(Ask("ash_full", "POST", "/generations/upscale", body, "three"))
        comparison.look()
        yield sandboxes


@pytest.fixture
def comparison(sandboxes: SandboxesSideBySide) -> Comparison:
    return sandboxes.clients[DEFAULT_SANDBOX_ID].comparison


@pytest.fixture
def seen(comparison: Comparison) -> Seen:
    return observation.observe(comparison.client, ["ash_observer"])[0]


def change(kind: str, path: str, value: object, status: str | None = None) -> Callable[[Seen], None]:
    """Return what changes a field of the first resource of a kind, with a status if one is given."""

    def spoil(seen: Seen) -> None:
        resource: Any = next(one for one in seen[kind] if status in (None, one.get("status")))
        *steps, last = path.split(".")
        for step in steps:
            resource = resource[int(step) if step.isdigit() else step]
        resource[last] = value

    return spoil


def check_credits(seen: Seen) -> None:
    unfinished = [one for one in seen["operation"] + seen["generation"] if one["status"] not in observation.TERMINAL]
    observation.check_credits(seen, 20, sum(one["credits"]["reserved"] for one in unfinished))


@pytest.mark.parametrize(
    ("check", "spoil"),
    [
        (check_credits, change("team", "credits", 99)),
        (check_credits, change("operation", "credits.charged", 7, "completed")),
        (check_credits, change("generation", "credits.charged", 1, "failed")),
        (check_credits, change("generation", "credits.reserved", 7, "queued")),
        (check_credits, change("team", "capabilities.api_concurrency.used", 2)),
        (observation.check_library, change("product", "primary_asset_id", "elsewhere")),
        (observation.check_library, change("product", "asset_ids", [])),
        (observation.check_library, lambda seen: seen["asset"].clear()),
        (observation.check_generations, change("generation", "status", "failed", "completed")),
        (observation.check_generations, change("generation", "status", "completed", "failed")),
        (observation.check_generations, change("generation", "status", "completed", "queued")),
        (observation.check_generations, change("generation", "outputs.0.asset", None, "completed")),
        (observation.check_generations, change("generation", "outputs.0.error", None, "failed")),
        (observation.check_origins, change("operation", "result", None, "completed")),
        (observation.check_origins, change("operation", "error", {}, "completed")),
        (observation.check_origins, change("generation", "credits.charged", 1, "failed")),
        (observation.check_origins, lambda seen: seen["operation"].clear()),
        (observation.check_origins, lambda seen: seen["generation"].clear()),
    ],
)
def test_a_spoiled_observation_does_not_pass(
    seen: Seen, check: Callable[[Seen], None], spoil: Callable[[Seen], None]
) -> None:
    check(seen)
    spoil(seen)
    with pytest.raises(AssertionError):
        check(seen)


@pytest.mark.parametrize("status", observation.TERMINAL)
def test_terminal_work_may_not_change(seen: Seen, status: str) -> None:
    ended = observation.EndedWork()
    ended.check(deepcopy(seen))
    change("generation", "status", "processing", "queued")(seen)
    ended.check(deepcopy(seen))
    change("generation", "updated_at", "2026-01-02T00:00:00.000Z", status)(seen)
    with pytest.raises(AssertionError):
        ended.check(seen)


def test_a_key_may_have_one_outcome_in_24_hours() -> None:
    one, other = (Answer(202, (), b'{"object": "operation", "id": "%d"}' % number) for number in range(2))
    outcomes, scope = observation.KeyOutcomes(), ("key", "POST", "/poses", "a")
    outcomes.check(scope, replace(one, status=503), 0)
    for now in (0, KEY_RETENTION - 1):
        outcomes.check(scope, one, now)
    outcomes.check((*scope[:3], "b"), other, 1)
    with pytest.raises(AssertionError):
        outcomes.check(scope, other, KEY_RETENTION - 1)
    outcomes.check(scope, other, KEY_RETENTION)


def add_a_credit(sandbox: Sandbox) -> None:
    (birch,) = sandbox.find_accounts("Birch")
    birch.ledger.grant(1)


def lose_a_place(sandbox: Sandbox) -> None:
    (ash,) = sandbox.find_accounts("Ash")
    ash.budget.finishes_at.clear()


@pytest.mark.parametrize(
    "tamper",
    [
        lambda sandbox: sandbox.clock.advance_to(sandbox.clock.now() + 1),
        add_a_credit,
        lose_a_place,
        lambda sandbox: sandbox.playbooks.clear(),
        lambda sandbox: sandbox.store.products.remove(next(iter(sandbox.store.products.items.values()))),
        lambda sandbox: sandbox.images.put("nobody's", b"bytes"),
    ],
)
def test_what_happens_unasked_is_noticed(comparison: Comparison, tamper: Callable[[Sandbox], None]) -> None:
    tamper(comparison.client.sandbox)
    with pytest.raises(AssertionError):
        comparison.look(at_all=True)


def test_what_leaks_into_another_sandbox_is_noticed(sandboxes: SandboxesSideBySide) -> None:
    sandboxes.open_another(DEFAULT_SANDBOX_ID, Random(0))
    sandboxes.look(ANOTHER)
    add_a_credit(sandboxes.clients[DEFAULT_SANDBOX_ID].comparison.client.sandbox)
    with pytest.raises(AssertionError, match="has changed by itself"):
        sandboxes.look(ANOTHER)


def test_a_reset_that_leaves_something_is_noticed(
    sandboxes: SandboxesSideBySide, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.clients[DEFAULT_SANDBOX_ID].comparison.end_scenario(None)
    monkeypatch.setattr("emulator.control.sandboxes.reset_with_scenarios", lambda call: None)
    with pytest.raises(AssertionError, match="began otherwise"):
        sandboxes.reset(DEFAULT_SANDBOX_ID, Random(0))

"""What a run made: Products, works and Credits spent, in each sandbox; a lost answer must not make more of them.

Work is judged by its plan, which was decided at admission, so it does not matter how far a run let it come. An ingredient is
what an Operation makes: it is counted as that work. Must not know what was struck.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from emulator.domain.pricing import generation_charge
from emulator.domain.resources import Generation, Operation
from emulator.service.record import RequestRecord
from emulator.service.sandbox import Sandbox
from emulator.service.store import Store

MADE_TWICE: Final = "made-twice"
"""The rule that such a run breaks."""
World = dict[str, tuple[int, int]]
"""By what is counted, such as `Product` or `pose.create`: how many were made, and how many were left at the end."""


class _Seen(Struct, eq=False):
    """A sandbox since it began, whose store outlives its reset and its end here."""

    sandbox: str
    store: Store
    products_made: int = 0


class Worlds:
    """Keeps what every sandbox held, as an observer of their journals."""

    def __init__(self) -> None:
        self._seen: dict[int, _Seen] = {}

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Count what a completed request made."""
        seen = self._seen.setdefault(id(sandbox.store), _Seen(sandbox.id, sandbox.store))
        if record.operation == "createProduct" and record.is_committed and record.replay_of is None:
            seen.products_made += record.is_complete

    def made(self) -> list[tuple[str, World]]:
        """Return what was made, each time with the id of the sandbox."""
        return [(seen.sandbox, _world(seen)) for seen in self._seen.values()]


def _world(seen: _Seen) -> World:
    counts: Counter[str] = Counter()
    works: list[Operation | Generation] = [
        *seen.store.operations.items.values(),
        *seen.store.generations.items.values(),
    ]
    for work in works:
        name, charge, has_result = _planned(work)
        counts[name] += has_result
        counts["Credit"] += charge
    return {"Product": (seen.products_made, len(seen.store.products.items))} | {
        name: (count, count) for name, count in counts.items()
    }


def _planned(work: Operation | Generation) -> tuple[str, int, bool]:
    """Return what work is, the Credits that it takes in the end, and whether it does not fail."""
    if isinstance(work, Operation):
        return work.type, work.outcome.charge, work.outcome.failure is None
    completed = sum(planned.failure is None for planned in work.plan)
    return work.workflow, generation_charge(work.reserved_credits, completed, len(work.plan)), completed > 0


def by_test(worlds: Iterable[tuple[str, World]], tests: Mapping[str, str]) -> dict[str, World]:
    """Return the worlds of each test, where a test that was repeated counts once; the rest together, under no name."""
    found: dict[str, World] = {}
    for sandbox, world in worlds:
        test = tests.get(sandbox, "")
        known = found.setdefault(test, {})
        for name, (made, left) in world.items():
            old_made, old_left = known.get(name, (0, 0))
            known[name] = (max(made, old_made), max(left, old_left)) if test else (made + old_made, left + old_left)
    return found


def made_twice(clean: Mapping[str, World], run: Mapping[str, World]) -> Iterator[dict[str, Any]]:
    """Return a finding about each test that made more than in the clean run, and did not take it back."""
    for test, world in run.items():
        usual = clean.get(test, {})
        excess = [
            f"{count[1]} {name} instead of {usual.get(name, (0, 0))[1]}"
            for name, count in world.items()
            if test in clean and all(new > old for new, old in zip(count, usual.get(name, (0, 0)), strict=True))
        ]
        if excess:
            yield {
                "rule": MADE_TWICE,
                "severity": "error",
                "message": f"more was made than in the clean run: {', '.join(excess)}",
                "remedy": "repeat a write whose effect is unknown with the Idempotency-Key of its first attempt",
                "test": test,
            }

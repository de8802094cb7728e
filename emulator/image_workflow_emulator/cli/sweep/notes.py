"""What the process of a run notes of its requests: the calls, in any one sandbox, and what they made.

Calls are counted as the playbook counts them: a request counts once its credential and rate were accepted. Work counts
once it was admitted. Each call has its possible problems.

What was made are Products, works and Credits spent; a lost answer must not make more of them. Work is judged by its plan,
which was decided at admission, so it does not matter how far a run let it come. An ingredient is what an Operation makes: it
is counted as that work. Must not know which faults are tried, and what was struck.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.domain.pricing import generation_charge
from image_workflow_emulator.domain.problems import CATALOGUE, ENTRANCE_CHECKS, OPERATION_CHECKS, Check
from image_workflow_emulator.domain.resources import Generation, Operation
from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.store import Store
from image_workflow_emulator.web.files import BYTE_CODES

_ASKED = {"upload": Check.CREDENTIAL, "download": Check.ROUTE, None: Check.RATE}
"""The check after which a request is asked about, by byte surface; None stands for operations."""

MAX_REPETITIONS: Final = 20
"""How often a client may ask for what a fault keeps from it, in each sandbox."""


MADE_TWICE: Final = "made-twice"
"""The rule that a run breaks which made more than the clean run."""
World = dict[str, tuple[int, int]]
"""By what is counted, such as `Product` or `pose.create`: how many were made, and how many were left at the end."""


class NotedCall(Struct, eq=False):
    """The Nth call of an operation, in all sandboxes that had so many; a byte surface stands for an operation.

    `codes` are the problems that could have happened there. `is_repetition`: the same read was sent right before and
    after it, as a poll is. `is_overlapped`: others came before it was answered. `sandboxes` are the ids of those sandboxes.
    """

    operation: str
    number: int
    is_read: bool
    codes: set[str] = field(default_factory=set)
    is_repetition: bool = True
    is_overlapped: bool = False
    sandboxes: set[str] = field(default_factory=set)


class NotedWork(Struct, eq=False):
    """The Nth work that an operation admitted, with the most outputs that it had; an Operation has none."""

    operation: str
    number: int
    outputs: int = 0
    sandboxes: set[str] = field(default_factory=set)


class Noted(Struct):
    """What was noted in a run, in the order of the contract."""

    calls: list[NotedCall] = []
    works: list[NotedWork] = []


class _Seen(Struct, eq=False):
    """A sandbox since it began, whose store outlives its reset and its end here."""

    sandbox: str
    store: Store
    products_made: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    works: Counter[str] = field(default_factory=Counter)
    last: dict[str, tuple[tuple[str, str], NotedCall]] = field(default_factory=dict)
    """By API key: the method and path of the last request with it, and the call that this was."""


class Notes:
    """What the process of a run notes of all sandboxes, each by itself, as an observer of their journals."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._seen: dict[int, _Seen] = {}
        """By the id of their stores: a reset or a load makes another one, and starts the counts again."""
        self._calls: dict[tuple[str, int], NotedCall] = {}
        self._works: dict[tuple[str, int], NotedWork] = {}
        self.struck = 0
        """How often the fault of a sweep fired."""
        self.number = 0
        """How many calls there were in all."""

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Count a completed request, and what it made."""
        if not record.is_complete:
            return
        seen = self._seen.setdefault(id(sandbox.store), _Seen(sandbox.id, sandbox.store))
        is_made = record.is_committed and record.replay_of is None
        seen.products_made += record.operation == "createProduct" and is_made
        strike = sandbox.strike
        if strike is not None:
            rules = strike.scenario.rules
            self.struck += (record.rule in rules and record.has_rule_acted) or record.work_rule in rules
        name = record.operation or record.byte_surface
        is_asked_for_by_header = record.is_injected and record.rule is None
        if name is None or _ASKED[record.byte_surface] not in record.passed or is_asked_for_by_header:
            return
        self.number += 1
        self._note_call(seen, record, name)
        if record.work_id is not None and record.replay_of is None:
            seen.works[name] += 1
            number = seen.works[name]
            generation = sandbox.store.generations.items.get(record.work_id)
            work = self._works.setdefault((name, number), NotedWork(name, number))
            work.sandboxes.add(sandbox.id)
            work.outputs = max(work.outputs, 0 if generation is None else len(generation.outputs))

    @property
    def is_struck_without_end(self) -> bool:
        """Whether the client repeats what the fault strikes as if there were no end."""
        return self.struck > MAX_REPETITIONS * len({seen.sandbox for seen in self._seen.values()})

    def noted(self) -> Noted:
        """Return the calls and works. No call follows."""
        for seen in self._seen.values():
            for _, call in seen.last.values():
                call.is_repetition = False
        order = order_of(self._contract)
        calls = sorted(self._calls.values(), key=lambda call: (order[call.operation], call.number))
        works = sorted(self._works.values(), key=lambda work: (order[work.operation], work.number))
        return Noted(calls, works)

    def worlds(self) -> list[tuple[str, World]]:
        """Return what was made, each time with the id of the sandbox."""
        return [(seen.sandbox, _world(seen)) for seen in self._seen.values()]

    def _note_call(self, seen: _Seen, record: RequestRecord, name: str) -> None:
        seen.calls[name] += 1
        number = seen.calls[name]
        operation = self._contract.operations.get(name)
        is_read = name == "download" if operation is None else operation.method == "GET"
        call = self._calls.setdefault((name, number), NotedCall(name, number, is_read))
        call.sandboxes.add(seen.sandbox)
        call.is_overlapped |= record.last_arrival > record.sequence
        codes = BYTE_CODES if operation is None else operation.all_codes
        call.codes |= set(_possible(record, is_read, codes))
        client = "" if record.credential is None else record.credential.key
        request, last = (record.method, record.path), seen.last.get(client)
        is_poll = operation is not None and operation.method == "GET" and not operation.query
        if last is None or last[0] != request or not is_poll:
            call.is_repetition = False
            if last is not None:
                last[1].is_repetition = False
        seen.last[client] = request, call


def _possible(record: RequestRecord, is_read: bool, codes: Iterable[str]) -> Iterable[str]:
    """Iterate over the problems that a scenario could have caused: an earlier refusal still comes first."""
    was_refused = record.problem is not None and record.problem.check in OPERATION_CHECKS
    reaches_operation = record.is_committed or was_refused
    for code in codes:
        check = CATALOGUE[code].check
        is_passed = check in record.passed and check not in OPERATION_CHECKS
        is_due_at_operation = reaches_operation and (is_read or code == "internal_error")
        if (
            record.is_committed
            or check in ENTRANCE_CHECKS
            or (is_passed and code != "internal_error")
            or is_due_at_operation
        ):
            yield code


def order_of(contract: Contract) -> dict[str, int]:
    """Return the place of each operation in the order of the contract; byte surfaces come last."""
    return {name: place for place, name in enumerate((*contract.operations, *BYTE_SURFACES))}


# What was made ---------------------------------------------------------------------------------------------------------


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

"""The calls of a run: the operations, how often each was called in any one sandbox, and the possible problems of each.

Calls are counted as the playbook counts them: a request counts once its credential and rate were accepted. Work counts
once it was admitted. Must not know which faults are tried.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from emulator.contract import Contract
from emulator.domain.problems import CATALOGUE, ENTRANCE_CHECKS, OPERATION_CHECKS, Check
from emulator.scenario.matching import BYTE_SURFACES
from emulator.service.journal import Journal
from emulator.service.record import RequestRecord
from emulator.service.sandbox import Sandbox
from emulator.web.files import BYTE_CODES

_ASKED = {"upload": Check.CREDENTIAL, "download": Check.ROUTE, None: Check.RATE}
"""The check after which a request is asked about, by byte surface; None stands for operations."""

MAX_REPETITIONS: Final = 20
"""How often a client may ask for what a fault keeps from it, in each sandbox."""


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


class _Counts(Struct, eq=False):
    """The counts of one sandbox since it began."""

    calls: Counter[str] = field(default_factory=Counter)
    works: Counter[str] = field(default_factory=Counter)
    last: dict[str, tuple[tuple[str, str], NotedCall]] = field(default_factory=dict)
    """By API key: the method and path of the last request with it, and the call that this was."""

    def end(self) -> None:
        """No request follows the last ones."""
        for _, call in self.last.values():
            call.is_repetition = False


class Calls:
    """Counts the calls to all sandboxes, each by itself, as an observer of their journals."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._counts: dict[str, tuple[Journal, _Counts]] = {}
        """By sandbox id, with the sandbox's journal at that time: a reset makes another one, and starts the counts again."""
        self._calls: dict[tuple[str, int], NotedCall] = {}
        self._works: dict[tuple[str, int], NotedWork] = {}
        self.struck = 0
        """How often the fault of a sweep fired."""
        self.number = 0
        """How many calls there were in all."""

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Count a completed request."""
        if not record.is_complete:
            return
        strike = sandbox.strike
        if strike is not None:
            rules = strike.scenario.rules
            self.struck += (record.rule in rules and record.has_rule_acted) or record.work_rule in rules
        name = record.operation or record.byte_surface
        is_asked_for_by_header = record.is_injected and record.rule is None
        if name is None or _ASKED[record.byte_surface] not in record.passed or is_asked_for_by_header:
            return
        counts = self._counts_of(sandbox)
        counts.calls[name] += 1
        self.number += 1
        self._note_call(sandbox, record, name, counts)
        if record.work_id is not None and record.replay_of is None:
            counts.works[name] += 1
            number = counts.works[name]
            generation = sandbox.store.generations.items.get(record.work_id)
            work = self._works.setdefault((name, number), NotedWork(name, number))
            work.sandboxes.add(sandbox.id)
            work.outputs = max(work.outputs, 0 if generation is None else len(generation.outputs))

    @property
    def is_struck_without_end(self) -> bool:
        """Whether the client repeats what the fault strikes as if there were no end."""
        return self.struck > MAX_REPETITIONS * len(self._counts)

    def noted(self) -> Noted:
        """Return everything. No call follows."""
        for _, counts in self._counts.values():
            counts.end()
        order = order_of(self._contract)
        calls = sorted(self._calls.values(), key=lambda call: (order[call.operation], call.number))
        works = sorted(self._works.values(), key=lambda work: (order[work.operation], work.number))
        return Noted(calls, works)

    def _counts_of(self, sandbox: Sandbox) -> _Counts:
        journal, counts = self._counts.get(sandbox.id, (None, _Counts()))
        if journal is not sandbox.journal:
            counts.end()
            counts = _Counts()
            self._counts[sandbox.id] = sandbox.journal, counts
        return counts

    def _note_call(self, sandbox: Sandbox, record: RequestRecord, name: str, counts: _Counts) -> None:
        number = counts.calls[name]
        operation = self._contract.operations.get(name)
        is_read = name == "download" if operation is None else operation.method == "GET"
        call = self._calls.setdefault((name, number), NotedCall(name, number, is_read))
        call.sandboxes.add(sandbox.id)
        call.is_overlapped |= record.last_arrival > record.sequence
        codes = BYTE_CODES if operation is None else operation.all_codes
        call.codes |= set(_possible(record, is_read, codes))
        client = "" if record.credential is None else record.credential.key
        request, last = (record.method, record.path), counts.last.get(client)
        is_poll = operation is not None and operation.method == "GET" and not operation.query
        if last is None or last[0] != request or not is_poll:
            call.is_repetition = False
            if last is not None:
                last[1].is_repetition = False
        counts.last[client] = request, call


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

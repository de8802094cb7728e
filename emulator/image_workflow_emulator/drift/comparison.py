"""A recorded answer held against the emulator's answer to the same call.

Values that the specification gives a meaning to are compared: never ids, cursors, links,
absolute times, wording or pixels. Additional members are no difference (section 9).
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from image_workflow_emulator.client.control_client import Answer
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.drift.differences import NOTHING, Difference, difference
from image_workflow_emulator.drift.names import is_name
from image_workflow_emulator.drift.replay import Replay
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic
from image_workflow_emulator.kernel.wording import excerpt

_UNFINISHED: Final = frozenset({"queued", "processing", "pending"})
_NEVER: Final = frozenset(
    {
        # Absolute times, wording, and who it was.
        "created_at",
        "updated_at",
        "started_at",
        "expires_at",
        "message",
        "code",
        "retryable",
        "credential",
        "initiated_by",
        "prefix",
        # What observations or breaches judge by themselves.
        "format",
        "width",
        "height",
        "size_bytes",
        "resolved_asset_ids",
        "target",
        "used",
        "limit",
        # What nobody promised.
        "headers",
        "output_summary",
        "previews",
        "response",
    }
)
"""Members that are not compared one by one."""
_NEVER_OF_KIND: Final[Mapping[object, Collection[str]]] = {
    "team": _NEVER | {"name", "credits"},  # changes of Credits are observed (D29)
    "product": _NEVER | {"asset_ids"},  # in the order of the service's own ids (D22)
    "background": _NEVER | {"description"},  # which the service writes
    "pose": _NEVER | {"description"},
    "fashion_model": _NEVER | {"description"},
}


class _Pair(NamedTuple):
    """The values at one place of a recorded answer and of the emulator's."""

    where: str
    recorded: Any
    expected: Any

    def are(self, kind: type) -> bool:
        """Whether both are of a type."""
        return isinstance(self.recorded, kind) and isinstance(self.expected, kind)

    def at(self, step: str | int) -> "_Pair":
        """The values of a member or an item that both have."""
        return _Pair(
            where=f"{self.where}/{step}",
            recorded=self.recorded[step],
            expected=self.expected[step],
        )


class _Unequal(NamedTuple):
    """Two values at one place that differ, in words."""

    where: str
    recorded: str
    expected: str


_Compare: TypeAlias = Callable[[_Pair], Iterator[_Unequal]]


class Comparison:
    """Compares recorded answers with those of a replay.

    `mispriced` are the ids of work whose price differs: its Credits are not compared.
    """

    def __init__(self, replay: Replay, mispriced: Collection[str]) -> None:
        self._names = replay.names
        self._beginning = replay.beginning
        self._mispriced = mispriced

    def differences(
        self,
        call: RecordedCall,
        answer: Answer | None,
    ) -> Iterator[Difference]:
        """Iterate over the differences of one call. A different status is the only one:
        nothing else can be compared.
        """
        recorded = _outcome(call.status, call.code)
        if call.surface == "upload" and _is_strange_refusal(call):
            yield difference(call, "status", recorded, "200")
        if answer is None or call.name == "completeUpload":
            return
        own_code = answer.json.get("code")
        expected = _outcome(answer.status, own_code)
        if not _is_same_outcome(call, recorded, expected):
            yield difference(call, "status", recorded, expected)
        elif _has_whole_resource(call):
            answers = _Pair("", call.answer, answer.json)
            for unequal in self._resource(answers):
                yield difference(call, *unequal)

    def _resource(self, pair: _Pair) -> Iterator[_Unequal]:
        """Compare two values of an answer, by the members that have a meaning."""
        if pair.where == "/data":
            yield from self._list_items(pair)
        elif pair.are(dict):
            yield from self._members(pair)
        elif pair.are(list):
            yield from self._items(pair, self._resource)
        else:
            yield from self._value(pair)

    def _members(self, pair: _Pair) -> Iterator[_Unequal]:
        _, recorded, expected = pair
        identifier = str(recorded.get("id"))
        if _ends_between(recorded, expected) or identifier in self._beginning.ids:
            return
        kind = expected.get("object")
        ignored = set(_NEVER_OF_KIND.get(kind, _NEVER))
        if identifier in self._mispriced:
            ignored.add("credits")
        for name in recorded:
            if name not in expected or name in ignored:
                continue
            compare: _Compare = self._resource
            if name == "request" and kind == "generation":
                compare = self._order
            elif name == "request":
                compare = self._echo
            yield from compare(pair.at(name))

    def _list_items(self, pair: _Pair) -> Iterator[_Unequal]:
        """Compare the items that both lists have: nobody can tell what else a Team has."""
        own_items = {}
        for item in pair.expected:
            recorded_id = self._names.recorded.get(item.get("id", ""))
            own_items[recorded_id] = item
        for item in pair.recorded:
            own = own_items.get(item.get("id", ""))
            if own is not None:
                yield from self._resource(_Pair("/data/*", item, own))

    def _items(self, pair: _Pair, compare: _Compare) -> Iterator[_Unequal]:
        recorded_count = len(pair.recorded)
        expected_count = len(pair.expected)
        if recorded_count != expected_count:
            yield _Unequal(
                where=pair.where,
                recorded=f"{recorded_count} items",
                expected=str(expected_count),
            )
            return
        for index in range(recorded_count):
            yield from compare(pair.at(index))

    def _order(self, pair: _Pair) -> Iterator[_Unequal]:
        """Compare the echo of an order, in which every member has a meaning."""
        if pair.are(dict):
            for name, value in pair.expected.items():
                if name in pair.recorded:
                    yield from self._order(pair.at(name))
                elif value is not None:
                    where = f"{pair.where}/{name}"
                    yield _Unequal(where, NOTHING, excerpt(value))
        elif pair.are(list):
            yield from self._items(pair, self._order)
        else:
            yield from self._value(pair)

    def _echo(self, pair: _Pair) -> Iterator[_Unequal]:
        """Compare the echo of an Operation, whose contents nobody promised (section 2)."""
        if not pair.are(dict):
            yield from self._value(pair)
            return
        promised = {}
        for name in pair.recorded:
            if name in pair.expected:
                promised[name] = pair.expected[name]
        yield from self._order(pair._replace(expected=promised))

    def _value(self, pair: _Pair) -> Iterator[_Unequal]:
        member = _member_of(pair.where)
        if not self._is_same(member, pair.recorded, pair.expected):
            yield _Unequal(
                where=pair.where,
                recorded=excerpt(pair.recorded),
                expected=excerpt(pair.expected),
            )

    def _is_same(
        self,
        member: str,
        recorded: Any,
        expected: Any,
    ) -> bool:
        if member in ("finished_at", "error"):
            return (recorded is None) == (expected is None)
        if member == "charged" and expected == 0 and recorded == 1:
            return True  # a Background's, which depends on its picture (D30)
        if isinstance(recorded, str) and isinstance(expected, str):
            return self._is_same_text(member, recorded, expected)
        return bool(recorded == expected)

    def _is_same_text(
        self,
        member: str,
        recorded: str,
        expected: str,
    ) -> bool:
        if member == "next_cursor":
            return True
        if member == "status" and {recorded, expected} <= _UNFINISHED:
            return True
        if is_name(member):
            return self._names.may_be_same(recorded, expected)
        return recorded == expected


def _is_strange_refusal(call: RecordedCall) -> bool:
    """Whether a 4xx has a code that the specification does not have."""
    is_refusal = call.status is not None and 400 <= call.status < 500
    return is_refusal and call.code not in CATALOGUE


def _has_whole_resource(call: RecordedCall) -> bool:
    """Whether an operation succeeded, and its answer was recorded."""
    return call.operation is not None and call.is_success and not call.is_partial


def _outcome(status: int | None, code: object) -> str:
    if status is None or status < 400:
        return str(status)
    return f"{status} {code}"


def _is_same_outcome(
    call: RecordedCall,
    recorded: str,
    expected: str,
) -> bool:
    """Whether two outcomes are one; of a file, whether both are found or none is."""
    if call.operation is not None:
        return recorded == expected
    return recorded[0] in (expected[0], "3")


def _ends_between(recorded: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether work has ended in one of two answers alone: nobody knows when it did."""
    recorded_status = str(recorded.get("status"))
    expected_status = str(expected.get("status"))
    if recorded_status in _UNFINISHED:
        return expected_status in TERMINAL
    return recorded_status in TERMINAL and expected_status in _UNFINISHED


def _member_of(where: str) -> str:
    """Return the name of the member at a place, or of the list that has it as an item."""
    for step in reversed(where.split("/")):
        if not step.isdecimal():
            return step
    return ""


def size_differences(traffic: Traffic) -> Iterator[Difference]:
    """Iterate over the Assets whose size changes, or is not that of the downloaded file."""
    file_sizes = _sizes_of_files(traffic)
    for snapshots in traffic.snapshots.values():
        sized = [
            snapshot for snapshot in snapshots if "size_bytes" in snapshot.resource
        ]
        for call, asset in sized:
            first_size = sized[0].resource["size_bytes"]
            address = asset.get("url", "")
            expected = file_sizes.get(address, first_size)
            recorded = asset["size_bytes"]
            if recorded != expected:
                yield difference(
                    call,
                    where="/size_bytes",
                    recorded=str(recorded),
                    expected=f"{expected}, as elsewhere",
                )


def _sizes_of_files(traffic: Traffic) -> dict[str, int]:
    """Return the sizes of downloaded files, by address."""
    sizes: dict[str, int] = {}
    for call in traffic.of("download"):
        if call.status == 200 and call.response_body:
            sizes[call.url] = len(call.response_body)
    return sizes

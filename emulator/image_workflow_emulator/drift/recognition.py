"""Which recorded exchanges are calls of the service, and what their bodies say.

The address of the service is found from the calls themselves, those of direct uploads and
files from the links in earlier answers. A recording may have calls to several addresses,
such as emulators on different ports: each is judged by itself.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from msgspec.structs import asdict, replace

from image_workflow_emulator.contract import BASE_PATH, Contract, OperationContract
from image_workflow_emulator.documents.schemas import (
    MAX_COMPLAINTS,
    Steps,
    Violation,
)
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.drift.exchanges import RecordedExchange, Recording
from image_workflow_emulator.drift.json_values import instant_of, json_of, leaves
from image_workflow_emulator.drift.traffic import REDIRECTS, RecordedCall, Traffic
from image_workflow_emulator.http.requests import encoded_path
from image_workflow_emulator.kernel.timestamps import DAY_MS, SECOND_MS
from image_workflow_emulator.kernel.wording import printable
from image_workflow_emulator.scenario.scenario import BYTE_SURFACES, ByteSurface

WITHOUT_MILLISECONDS: Final = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(Z|[+-]\d\d:\d\d)"
)
"""A timestamp as the specification does not have it, whose meaning is clear."""
_LINKS: Final = ("url", "card_image_url", "preview_image_urls")
"""The members of answers that hold addresses of byte surfaces."""
_OF_PROBLEMS: Final = ("code", "request_id", "active_operation_id")
_PAST: Final = ("created_at", "updated_at", "finished_at")
_LATENCY_MS: Final = 10 * SECOND_MS
"""How much later than its request an answer may be without a jump of the clock."""
_MAX_ROUNDS: Final = 10
"""How often an answer is searched for violations, which are reported a hundred at once."""


class OtherCalls(Struct, frozen=True):
    """Calls to an address that is not known to be the service's, which are left out."""

    address: str
    """Host and port."""
    calls: int


class Recognized(Struct, frozen=True):
    """The calls of the service in some recordings, and what is left out."""

    traffics: Sequence[Traffic]
    """One for each address in each recording."""
    others: Sequence[OtherCalls]
    left_out: int
    """How many exchanges are in no traffic, those of `others` included."""


class _Addressee(NamedTuple):
    """What an exchange calls: an operation or a byte surface, at an address."""

    base: str
    """The address before `/v1`; of a byte surface, that of the answer with the link."""
    operation: OperationContract | None = None
    parameters: Mapping[str, str] = {}
    surface: ByteSurface | None = None


class _Bodies(NamedTuple):
    """The bodies of a call, as far as the contract allows them."""

    body: Mapping[str, Any]
    answer: Mapping[str, Any]
    violations: Sequence[Violation] = ()
    lacks_answer: bool = False


def recognize(recordings: Sequence[Recording], contract: Contract) -> Recognized:
    """Find the calls of the service in some recordings."""
    traffics: list[Traffic] = []
    calls_elsewhere = Counter[str]()
    exchanges = 0
    for recording in recordings:
        exchanges += len(recording.exchanges)
        by_base = _Reader(contract).calls_by_base(recording.exchanges)
        bases = _bases_of_service(by_base)
        for base, calls in by_base.items():
            if base in bases:
                traffics.append(Traffic(_by_the_clock_of_the_service(calls)))
            else:
                calls_elsewhere[_host(base)] += len(calls)
    recognized = sum(len(traffic.calls) for traffic in traffics)
    return Recognized(
        traffics=traffics,
        others=[OtherCalls(host, calls) for host, calls in calls_elsewhere.items()],
        left_out=exchanges - recognized,
    )


def _bases_of_service(by_base: Mapping[str, Sequence[RecordedCall]]) -> Sequence[str]:
    """Return the addresses whose answers are of the service.

    If none certainly is, that of most calls counts if its answers may be.
    """
    certain = [
        base for base, calls in by_base.items() if any(map(_is_of_service, calls))
    ]
    if certain:
        return certain
    possible = [
        base for base, calls in by_base.items() if any(map(_may_be_of_service, calls))
    ]
    return sorted(possible, key=lambda base: -len(by_base[base]))[:1]


def _is_of_service(call: RecordedCall) -> bool:
    """Whether an answer has the form of this service: another API may have the same paths."""
    if call.is_success:
        return "object" in call.answer or "page" in call.answer
    return call.code in CATALOGUE


def _may_be_of_service(call: RecordedCall) -> bool:
    return call.is_partial or call.status == 204


def _host(base: str) -> str:
    """Return host and port of an address, without the password that it may have."""
    try:
        host = urlsplit(base).netloc
    except ValueError:
        host = ""
    return printable(host.rpartition("@")[2] or "an unknown address")


def _by_the_clock_of_the_service(
    calls: Sequence[RecordedCall],
) -> Sequence[RecordedCall]:
    """Return calls at the instants of the service's clock.

    It may jump: an emulator's clock skips waits, while a recording has the host's time.
    """
    skew_ms = _first_skew_ms(calls)
    adjusted = []
    now = DAY_MS
    for call in calls:
        latest = _latest_instant(call)
        if latest is not None and latest - call.at > skew_ms + _LATENCY_MS:
            skew_ms = latest - call.at
        now = max(now, call.at + skew_ms)
        adjusted.append(replace(call, at=now))
    return adjusted


def _first_skew_ms(calls: Sequence[RecordedCall]) -> int:
    """Return how far the service's clock is ahead of the recording's, by the first
    resource that a call created.
    """
    for call in calls:
        is_write = call.operation is not None and call.operation.is_write
        if is_write and call.is_timed and call.is_success:
            created_at = instant_of(call.answer.get("created_at"))
            if created_at is not None:
                return created_at - call.at
    return 0


def _latest_instant(call: RecordedCall) -> int | None:
    """Return the latest instant that an answer names as past."""
    instants = []
    for resource in call.resources:
        for member in _PAST:
            instant = instant_of(resource.get(member))
            if instant is not None:
                instants.append(instant)
    return max(instants, default=None)


class _Reader:
    """Reads the exchanges of one recording as calls."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._patterns = [
            (_pattern_of(operation.path), operation)
            for operation in contract.operations.values()
        ]
        self._links: dict[str, _Addressee] = {}
        """The byte surfaces by their addresses, as earlier answers have them."""

    def calls_by_base(
        self, exchanges: Sequence[RecordedExchange]
    ) -> Mapping[str, Sequence[RecordedCall]]:
        """Return the calls by the address that they were sent to."""
        calls_by_base: dict[str, list[RecordedCall]] = {}
        for exchange in exchanges:
            addressee = self._addressee(exchange)
            if addressee is None:
                continue
            calls = calls_by_base.setdefault(addressee.base, [])
            now = calls[-1].at if calls else DAY_MS
            call = self._call(exchange, addressee, number=len(calls), now=now)
            calls.append(call)
            for link, surface in _links_in(call):
                self._links[link] = _Addressee(addressee.base, surface=surface)
        return calls_by_base

    def _addressee(self, exchange: RecordedExchange) -> _Addressee | None:
        address = exchange.url.partition("?")[0]
        base, _, path = address.partition(f"{BASE_PATH}/")
        for pattern, operation in self._patterns:
            match = pattern.fullmatch(f"/{path}")
            if match is not None and operation.method == exchange.method:
                parameters = {
                    name: unquote(value) for name, value in match.groupdict().items()
                }
                return _Addressee(base, operation, parameters)
        if exchange.entry is None:
            return self._links.get(exchange.url)
        for surface in BYTE_SURFACES:
            if surface == exchange.entry.bytes:
                origin = address.removesuffix(encoded_path(exchange.entry.path))
                return _Addressee(origin, surface=surface)
        return None

    def _call(
        self, exchange: RecordedExchange, addressee: _Addressee, number: int, now: int
    ) -> RecordedCall:
        bodies = self._bodies(exchange, addressee)
        takes_body = addressee.surface == "upload"
        if addressee.operation is not None:
            takes_body = addressee.operation.body is not None
        lacks_body = takes_body and exchange.request_body is None
        recorded = asdict(exchange)
        recorded["at"] = max(now, exchange.at or 0)
        return RecordedCall(
            **recorded,
            number=number,
            is_timed=exchange.at is not None,
            operation=addressee.operation,
            surface=addressee.surface,
            parameters=addressee.parameters,
            body=bodies.body,
            answer=bodies.answer,
            violations=bodies.violations,
            is_partial=lacks_body or bodies.lacks_answer,
        )

    def _bodies(self, exchange: RecordedExchange, addressee: _Addressee) -> _Bodies:
        body = self._request_body(exchange, addressee.operation)
        answer = json_of(exchange.response_body)
        if not isinstance(answer, dict):
            answer = {}
        schema = self._schema_of_success(exchange, addressee)
        if schema is None:
            return _Bodies(body, _problem_members(answer))
        if exchange.response_body is None:
            return _Bodies(body, {}, lacks_answer=True)
        return _Bodies(body, *self._by_the_contract(schema, answer))

    def _request_body(
        self, exchange: RecordedExchange, operation: OperationContract | None
    ) -> Mapping[str, Any]:
        if operation is None or operation.body is None:
            return {}
        body: Mapping[str, Any] | None = json_of(exchange.request_body)
        if body is None or self._contract.violations(operation.body, body):
            return {}
        return body

    def _schema_of_success(
        self, exchange: RecordedExchange, addressee: _Addressee
    ) -> str | None:
        """Return the schema of a success that has a body; None for any other answer."""
        status = exchange.status or 0
        if not 200 <= status < 300:
            return None
        if addressee.operation is not None:
            return self._contract.schema_of_success(addressee.operation, status)
        return "DirectUploadResponseBody" if addressee.surface == "upload" else None

    def _by_the_contract(
        self, schema: str, answer: dict[str, Any]
    ) -> tuple[Mapping[str, Any], Sequence[Violation]]:
        """Return an answer without what breaks the contract, and what that was.

        Nothing is left of an answer that breaks it in more ways than are searched for.
        """
        violations: list[Violation] = []
        removed: set[Steps] = set()
        is_cut = True
        for _ in range(_MAX_ROUNDS):
            current = self._contract.violations(schema, answer)
            # A further round only shows what follows from the removals, unless the one
            # before was cut.
            if is_cut:
                new = [one for one in current if one.steps not in removed]
                violations += [one for one in new if one not in violations]
            invalid = [one for one in current if one.kind != "missing"]
            is_cut = len(current) > MAX_COMPLAINTS
            if not invalid and not is_cut:
                return answer, violations
            removed |= _mend(answer, invalid)
        return {}, violations


def _pattern_of(path: str) -> re.Pattern[str]:
    """Return a pattern that matches the paths of an operation, and names parameters."""
    return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path))


def _problem_members(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return the members of a problem that have a meaning."""
    members = {name: answer.get(name) for name in _OF_PROBLEMS}
    return {name: text for name, text in members.items() if isinstance(text, str)}


def _mend(answer: dict[str, Any], violations: Sequence[Violation]) -> set[Steps]:
    """Remove the values that break the contract, and return their places.

    Timestamps that lack only milliseconds get them: their meaning is clear.
    """
    places = list(dict.fromkeys(one.steps for one in violations if one.steps))
    for *steps, last in reversed(places):  # the last items of a list first
        holder: Any = answer
        for step in steps:
            holder = holder[step]
        value = holder[last]
        lacks = isinstance(value, str) and WITHOUT_MILLISECONDS.fullmatch(value)
        if lacks:
            holder[last] = f"{lacks[1]}.000{lacks[2]}"
        else:
            del holder[last]
    return set(places)


def _links_in(call: RecordedCall) -> Iterator[tuple[str, ByteSurface]]:
    """Iterate over the addresses of byte surfaces in an answer."""
    for resource in call.resources:
        surface: ByteSurface = "upload" if "upload" in resource else "download"
        for name, leaf in leaves(resource):
            if name in _LINKS and isinstance(leaf, str):
                yield leaf, surface
    if call.surface == "download" and call.status in REDIRECTS:
        yield call.response_headers.get("location", ""), "download"

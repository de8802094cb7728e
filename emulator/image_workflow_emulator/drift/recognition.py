"""Which recorded exchanges are calls of the service.

The address of the service is found from the calls themselves, those of direct uploads and
files from the links in earlier answers. A recording may have calls to several addresses,
such as emulators on different ports: each is judged by itself.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from msgspec.structs import asdict

from image_workflow_emulator.contract import BASE_PATH, Contract, OperationContract
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.drift.bodies import BodyReader
from image_workflow_emulator.drift.exchanges import RecordedExchange, Recording
from image_workflow_emulator.drift.json_values import leaves
from image_workflow_emulator.drift.service_clock import by_the_clock_of_the_service
from image_workflow_emulator.drift.traffic import REDIRECTS, RecordedCall, Traffic
from image_workflow_emulator.http.heads import encoded_path
from image_workflow_emulator.kernel.timestamps import DAY_MS
from image_workflow_emulator.kernel.wording import printable
from image_workflow_emulator.scenario.matching import BYTE_SURFACES, ByteSurface

_LINKS: Final = ("url", "card_image_url", "preview_image_urls")
"""The members of answers that hold addresses of byte surfaces."""


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
                traffics.append(Traffic(by_the_clock_of_the_service(calls)))
            else:
                calls_elsewhere[_host(base)] += len(calls)
    recognized = sum(len(traffic.calls) for traffic in traffics)
    others = [OtherCalls(host, count) for host, count in calls_elsewhere.items()]
    return Recognized(
        traffics=traffics,
        others=others,
        left_out=exchanges - recognized,
    )


def _bases_of_service(by_base: Mapping[str, Sequence[RecordedCall]]) -> Sequence[str]:
    """Return the addresses whose answers are of the service.

    If none certainly is, that of most calls counts if its answers may be.
    """
    certain = _bases_with(_is_of_service, by_base)
    if certain:
        return certain
    possible = _bases_with(_may_be_of_service, by_base)
    by_number_of_calls = sorted(possible, key=lambda base: -len(by_base[base]))
    return by_number_of_calls[:1]


def _bases_with(
    predicate: Callable[[RecordedCall], bool],
    by_base: Mapping[str, Sequence[RecordedCall]],
) -> list[str]:
    """Return the addresses that have such a call."""
    bases = []
    for base, calls in by_base.items():
        if any(predicate(call) for call in calls):
            bases.append(base)
    return bases


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


class _Reader:
    """Reads the exchanges of one recording as calls."""

    def __init__(self, contract: Contract) -> None:
        self._bodies = BodyReader(contract)
        self._patterns = [
            (_pattern_of(operation.path), operation)
            for operation in contract.operations.values()
        ]
        self._links: dict[str, _Addressee] = {}
        """The byte surfaces by their addresses, as earlier answers have them."""

    def calls_by_base(
        self,
        exchanges: Sequence[RecordedExchange],
    ) -> Mapping[str, Sequence[RecordedCall]]:
        """Return the calls by the address that they were sent to."""
        calls_by_base: dict[str, list[RecordedCall]] = {}
        for exchange in exchanges:
            addressee = self._addressee(exchange)
            if addressee is None:
                continue
            calls = calls_by_base.setdefault(addressee.base, [])
            now = DAY_MS
            if calls:
                now = calls[-1].at
            call = self._call(
                exchange,
                addressee,
                number=len(calls),
                now=now,
            )
            calls.append(call)
            for link, surface in _links_in(call):
                self._links[link] = _Addressee(addressee.base, surface=surface)
        return calls_by_base

    def _addressee(self, exchange: RecordedExchange) -> _Addressee | None:
        address, _, _ = exchange.url.partition("?")
        called = self._operation_at(address, exchange.method)
        if called is not None:
            return called
        if exchange.entry is None:
            return self._links.get(exchange.url)
        for surface in BYTE_SURFACES:
            if surface == exchange.entry.bytes:
                path = encoded_path(exchange.entry.path)
                return _Addressee(address.removesuffix(path), surface=surface)
        return None

    def _operation_at(self, address: str, method: str) -> _Addressee | None:
        base, _, path = address.partition(f"{BASE_PATH}/")
        for pattern, operation in self._patterns:
            match = pattern.fullmatch(f"/{path}")
            if match is None or operation.method != method:
                continue
            parameters = {
                name: unquote(value) for name, value in match.groupdict().items()
            }
            return _Addressee(base, operation, parameters)
        return None

    def _call(
        self,
        exchange: RecordedExchange,
        addressee: _Addressee,
        number: int,
        now: int,
    ) -> RecordedCall:
        operation = addressee.operation
        bodies = self._bodies.read(exchange, operation, addressee.surface)
        recorded = asdict(exchange)
        recorded["at"] = max(now, exchange.at or 0)
        return RecordedCall(
            **recorded,
            number=number,
            is_timed=exchange.at is not None,
            operation=operation,
            surface=addressee.surface,
            parameters=addressee.parameters,
            body=bodies.body,
            answer=bodies.answer,
            violations=bodies.violations,
            is_partial=bodies.is_partial,
        )


def _pattern_of(path: str) -> re.Pattern[str]:
    """Return a pattern that matches the paths of an operation, and names parameters."""
    pattern = re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path)
    return re.compile(pattern)


def _links_in(call: RecordedCall) -> Iterator[tuple[str, ByteSurface]]:
    """Iterate over the addresses of byte surfaces in an answer."""
    for resource in call.resources:
        surface: ByteSurface = "download"
        if "upload" in resource:
            surface = "upload"
        for name, leaf in leaves(resource):
            if name in _LINKS and isinstance(leaf, str):
                yield leaf, surface
    if call.surface == "download" and call.status in REDIRECTS:
        yield call.response_headers.get("location", ""), "download"

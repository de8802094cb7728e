"""Exchanges as calls of the service: which operation each is, and what it says about which resource.

Owns how an address is recognized: the base URL is found from the calls themselves, direct uploads and Asset files from the
links in earlier answers. What belongs to no part of the service is left aside. Knows no reading.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct
from msgspec.structs import asdict

from image_workflow_emulator.contract import BASE_PATH, Contract, OperationContract
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.drift.exchanges import RecordedExchange, Surface, instant_of, json_of, leaves

_WORKS: Final = ("operation", "generation")
_LINKS: Final = ("url", "card_image_url", "preview_image_urls")
"""The members of answers that hold addresses of byte surfaces."""
REDIRECTS: Final = (301, 302, 303, 307, 308)
_KINDS: Final = frozenset(
    {"team", "upload", "asset", "asset_deletion", "product", *_WORKS}
    | {"photography_style", "background", "fashion_model", "pose"}
)
"""What `object` says in answers of the service."""


class RecordedCall(RecordedExchange, frozen=True, dict=True, kw_only=True):
    """A recorded exchange with the service: a call of an operation, or of one of its two byte surfaces."""

    number: int
    """Its place among the calls, from 0."""
    at: int
    """The instant of the request, which never goes back; where the recording has none, that of the call before."""
    is_timed: bool
    """Whether the recording tells when it was."""
    operation: OperationContract | None
    parameters: Mapping[str, str]
    """The parameters of its path."""

    @property
    def name(self) -> str:
        """The operation's id, or the surface."""
        return self.operation.id if self.operation else str(self.surface)

    @property
    def key(self) -> str | None:
        """The Idempotency-Key."""
        return self.request_headers.get("idempotency-key")

    @cached_property
    def query(self) -> Mapping[str, str]:
        """The parameters of the query."""
        return dict(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))

    @cached_property
    def body(self) -> dict[str, Any]:
        """The JSON object of the request; empty if it is none."""
        return _object(self.request_body if self.operation else None)

    @cached_property
    def answer(self) -> dict[str, Any]:
        """The JSON object of the answer; empty if it is none."""
        return _object(self.response_body)

    @property
    def resources(self) -> Sequence[dict[str, Any]]:
        """The resources of a successful answer: itself, or the members of a list."""
        if not self.is_success:
            return ()
        data = self.answer.get("data")
        return [item for item in data if isinstance(item, dict)] if isinstance(data, list) else [self.answer]

    @property
    def is_success(self) -> bool:
        """Whether the answer was 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def code(self) -> str | None:
        """The code of the problem that was answered; None for a success."""
        code = None if self.is_success else self.answer.get("code")
        return code if isinstance(code, str) else None


class RecordedWork(Struct):
    """An Operation or Generation, and every call whose answer shows it, in order, with what it shows."""

    id: str
    looks: Sequence[tuple[RecordedCall, dict[str, Any]]]

    @property
    def admission(self) -> RecordedCall | None:
        """The call that admitted it: the first whose answer shows it, unless it was there before the recording."""
        call, _ = self.looks[0]
        return call if call.status == 202 else None

    @property
    def kind(self) -> str:
        """The workflow, or the Operation type, as the first answer shows it."""
        _, shown = self.looks[0]
        return str(shown.get("workflow") or shown.get("type"))

    @property
    def last(self) -> dict[str, Any]:
        """What was last seen of it."""
        return self.looks[-1][1]

    def finished_by(self) -> RecordedCall | None:
        """Return the first call that showed its end."""
        return next((call for call, shown in self.looks if shown.get("status") in TERMINAL), None)


class RecordedUpload(Struct):
    """An Upload Session: the first call that showed it, those that sent bytes to it, and those that completed it or tried to."""

    id: str
    url: str
    session: RecordedCall
    sent: list[RecordedCall]
    completions: list[RecordedCall]


class Traffic:
    """The calls of a recording, in order, and the resources that they show."""

    def __init__(self, exchanges: Sequence[RecordedExchange], contract: Contract) -> None:
        self._contract = contract
        self._templates = [(operation, _template(operation.path)) for operation in contract.operations.values()]
        self.base_url = self._find_base_url(exchanges)
        calls = self._recognize(exchanges)
        self.calls: Sequence[RecordedCall] = calls if any(map(_may_be_of_service, calls)) else []
        self.left_aside = len(exchanges) - len(self.calls)

    # Recognition ----------------------------------------------------------------------------------------------------

    def _find_base_url(self, exchanges: Sequence[RecordedExchange]) -> str:
        """Return the address before `/team` and the like that most exchanges have; empty if none fits."""
        found: Counter[str] = Counter()
        for exchange in exchanges:
            address, separator, rest = exchange.url.partition(BASE_PATH + "/")
            if separator and self._match(exchange.method, "/" + rest.partition("?")[0])[0]:
                found[address + BASE_PATH] += 1
        return found.most_common(1)[0][0] if found else ""

    def _match(self, method: str, path: str) -> tuple[OperationContract | None, Mapping[str, str]]:
        for operation, template in self._templates:
            match = template.fullmatch(path) if operation.method == method else None
            if match:
                return operation, {name: unquote(value) for name, value in match.groupdict().items()}
        return None, {}

    def _recognize(self, exchanges: Sequence[RecordedExchange]) -> Sequence[RecordedCall]:
        links: dict[str, Surface] = {}
        calls: list[RecordedCall] = []
        now = 0
        for exchange in exchanges:
            surface = exchange.surface or links.get(without_fragment(exchange.url))
            path = exchange.url.removeprefix(self.base_url).partition("?")[0]  # of another service, with its host
            operation, parameters = self._match(exchange.method, path)
            if operation is not None or surface is not None:
                now = max(now, exchange.at or 0)
                seen = {"number": len(calls), "at": now, "is_timed": exchange.at is not None, "surface": surface}
                call = RecordedCall(**{**asdict(exchange), **seen}, operation=operation, parameters=parameters)
                links.update(_links_in(call))
                calls.append(call)
        return calls

    # What it shows --------------------------------------------------------------------------------------------------

    def whole(self, *names: str) -> Iterator[RecordedCall]:
        """Iterate over the calls as `of` does, but for those whose bodies were cut off or lost."""
        return (call for call in self.of(*names) if not call.is_partial and call.status is not None)

    def of(self, *names: str) -> Iterator[RecordedCall]:
        """Iterate over the calls of some operations or surfaces, in order; of all, if none is named."""
        return (call for call in self.calls if not names or call.name in names)

    @cached_property
    def works(self) -> Mapping[str, RecordedWork]:
        """Every Operation and Generation that an answer shows, by id. Replays of an admission are looks at its work."""
        seen = self.shown.items()
        return {name: RecordedWork(name, looks) for name, looks in seen if looks[0][1].get("object") in _WORKS}

    @cached_property
    def shown(self) -> Mapping[str, Sequence[tuple[RecordedCall, dict[str, Any]]]]:
        """Every resource that an answer shows, by id, with the calls that show it."""
        shown: dict[str, list[tuple[RecordedCall, dict[str, Any]]]] = {}
        for call in self.calls:
            for resource in call.resources:
                if isinstance(resource.get("id"), str):
                    shown.setdefault(resource["id"], []).append((call, resource))
        return shown

    @cached_property
    def uploads(self) -> Mapping[str, RecordedUpload]:
        """Every upload, by the id of its session and by its address."""
        uploads: dict[str, RecordedUpload] = {}
        for call in self.of("createUpload", "upload", "completeUpload"):
            upload = call.answer.get("upload")
            if call.name == "createUpload" and isinstance(upload, dict) and isinstance(upload.get("url"), str):
                identifier, url = str(call.answer.get("id")), without_fragment(upload["url"])
                found = uploads.setdefault(url, RecordedUpload(identifier, url, call, [], []))
                uploads.setdefault(identifier, found)
            elif call.surface is not None and (known := uploads.get(without_fragment(call.url))):
                known.sent.append(call)
            elif known := uploads.get(call.parameters.get("upload_id", "")):
                known.completions.append(call)
        return uploads

    def service_time(self, call: RecordedCall) -> int | None:
        """Return the instant of a call by the service's own clock, as the nearest call that creates something tells it.

        None where neither that nor the client's clock is known.
        """
        if not self._clock:
            return call.at if call.is_timed else None
        index = bisect_left(self._clock, call.number, key=itemgetter(0))
        near = self._clock[max(index - 1, 0) : index + 1]
        number, instant = min(near, key=lambda one: abs(one[0] - call.number))
        return instant + call.at - self.calls[number].at

    @cached_property
    def _clock(self) -> Sequence[tuple[int, int]]:
        """The numbers of the calls that create something, each with when it did, by the service's clock."""
        made = (call for call in self.calls if call.status in (201, 202))
        clock = ((call.number, instant_of(call.answer.get("created_at"))) for call in made)
        return [(number, instant) for number, instant in clock if instant is not None]

    def admissions(self) -> Iterator[tuple[RecordedCall, RecordedWork]]:
        """Iterate over the calls that admitted work."""
        for work in self.works.values():
            if work.admission is not None:
                yield work.admission, work


def _template(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)))


def _object(body: bytes | None) -> dict[str, Any]:
    try:
        value = json_of(body or b"null")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _may_be_of_service(call: RecordedCall) -> bool:
    """Whether an answer has a form of this service: another API may have the same paths."""
    if call.is_partial or call.status == 204:
        return True
    if not call.is_success:
        return call.code in CATALOGUE
    return call.answer.get("object") in _KINDS or isinstance(call.answer.get("page"), dict)


def _links_in(call: RecordedCall) -> Iterator[tuple[str, Surface]]:
    """Iterate over the addresses of byte surfaces in an answer."""
    for resource in call.resources:
        surface: Surface = "upload" if "upload" in resource else "download"
        for name, leaf in leaves(resource):
            if name in _LINKS and isinstance(leaf, str):
                yield without_fragment(leaf), surface
    if call.surface == "download" and call.status in REDIRECTS:
        yield without_fragment(call.response_headers.get("location", "")), "download"


def without_fragment(url: str) -> str:
    """Return the address that is asked for under a link."""
    return url.partition("#")[0]

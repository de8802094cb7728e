"""Exchanges as calls of the service: which operation each is, and what it says about which resource.

Owns how an address is recognized (the base URL is found from the calls themselves, direct uploads and Asset files from
the links in earlier answers), and how a body is read: only values of the type that the contract gives them are passed
on, so that nobody after this has to check. Exchanges with anything else are left aside. Knows no reading.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, unquote

from msgspec import Struct
from msgspec.structs import asdict, replace

from image_workflow_emulator.contract import BASE_PATH, Contract, OperationContract
from image_workflow_emulator.documents.schemas import Violation
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.drift.recordings import (
    RecordedExchange,
    instant_of,
    json_of,
    leaves,
)
from image_workflow_emulator.kernel.timestamps import DAY_MS
from image_workflow_emulator.scenario.scenario import BYTE_SURFACES, ByteSurface

_LINKS: Final = ("url", "card_image_url", "preview_image_urls")
"""The members of answers that hold addresses of byte surfaces."""
_OF_PROBLEMS: Final = ("code", "request_id", "active_operation_id")
REDIRECTS: Final = (301, 302, 303, 307, 308)


class RecordedCall(RecordedExchange, frozen=True, kw_only=True):
    """A recorded exchange with the service: a call of an operation, or of one of its two byte surfaces."""

    number: int
    """Its place among the calls, from 0."""
    at: int
    """The instant of the request by the service's clock, which never goes back; where the recording has none, that of
    the call before.
    """
    is_timed: bool
    """Whether the recording tells when it was."""
    operation: OperationContract | None
    surface: ByteSurface | None
    parameters: Mapping[str, str]
    """The parameters of its path."""
    body: Mapping[str, Any]
    """The JSON object of the request; empty if it breaks the contract."""
    answer: Mapping[str, Any]
    """The JSON object of the answer, without the members that have another type than in the contract."""
    violations: Sequence[Violation]
    """Where the answer breaks the contract."""
    is_partial: bool
    """Whether the recording lacks a body, so that the call is evidence for the status alone."""

    @property
    def name(self) -> str:
        """The operation's id, or the surface."""
        return self.operation.id if self.operation else str(self.surface)

    @property
    def key(self) -> str | None:
        """The Idempotency-Key."""
        return self.request_headers.get("idempotency-key")

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of the query."""
        return dict(parse_qsl(self.url.partition("?")[2], keep_blank_values=True))

    @property
    def resources(self) -> Sequence[Mapping[str, Any]]:
        """The resources of a successful answer: itself, or the members of a list."""
        if not self.is_success or self.operation is None:
            return ()
        return (
            self.answer.get("data", ())
            if self.operation.kind == "list"
            else (self.answer,)
        )

    @property
    def is_success(self) -> bool:
        """Whether the answer was 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def code(self) -> str | None:
        """The code of the problem that was answered; None for a success."""
        return None if self.is_success else self.answer.get("code")


class Look(NamedTuple):
    """A call whose answer shows a resource, and how it does."""

    call: RecordedCall
    shown: Mapping[str, Any]

    @property
    def outputs(self) -> Sequence[Mapping[str, Any]]:
        """The outputs of work: an Operation has none, whatever else is in the answer."""
        return (
            self.shown.get("outputs", ())
            if self.shown["object"] == "generation"
            else ()
        )


class RecordedWork(Struct):
    """An Operation or Generation, and every call whose answer shows it, in order."""

    id: str
    looks: Sequence[Look]

    @property
    def admission(self) -> RecordedCall | None:
        """The call that admitted it: the first whose answer shows it, unless it was there before the recording."""
        call = self.looks[0].call
        return call if call.operation and call.operation.is_write else None

    @property
    def kind(self) -> str:
        """The workflow, or the Operation type, as the first answer shows it."""
        shown = self.looks[0].shown
        return str(shown.get("workflow") or shown.get("type"))

    @property
    def last(self) -> Look:
        """How it was last seen."""
        return self.looks[-1]

    @property
    def finished_by(self) -> RecordedCall | None:
        """The first call that showed its end."""
        return next(
            (call for call, shown in self.looks if shown.get("status") in TERMINAL),
            None,
        )

    def credits(self, name: str) -> int | None:
        """Return its Credits as last seen, `reserved` or `charged`; the contract promises no shape of a
        Generation's.
        """
        amounts = self.last.shown.get("credits")
        amount = amounts.get(name) if isinstance(amounts, dict) else None
        return amount if isinstance(amount, int) else None


class Traffic:
    """The calls of a recording, in order, and the resources that they show."""

    def __init__(
        self, exchanges: Sequence[RecordedExchange], contract: Contract
    ) -> None:
        self.contract = contract
        paths = (
            (operation.path, operation) for operation in contract.operations.values()
        )
        self._paths = [
            (re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path), operation)
            for path, operation in paths
        ]
        calls = list(self._recognize(exchanges))
        made = (
            call
            for call in calls
            if call.is_timed
            and call.is_success
            and call.operation
            and call.operation.is_write
        )
        clocks = ((call.at, instant_of(call.answer.get("created_at"))) for call in made)
        skew_ms = next(
            (created_at - at for at, created_at in clocks if created_at is not None), 0
        )
        calls = [replace(call, at=max(DAY_MS, call.at + skew_ms)) for call in calls]
        self.calls: Sequence[RecordedCall] = (
            calls if any(map(_may_be_of_service, calls)) else []
        )
        self.left_aside = len(exchanges) - len(self.calls)

    # Recognition ----------------------------------------------------------------------------------------------------

    def _match(
        self, exchange: RecordedExchange
    ) -> tuple[str, OperationContract | None, Mapping[str, str]]:
        """Return the address before `/v1`, the operation, and the parameters of its path."""
        base, _, path = exchange.url.partition("?")[0].partition(f"{BASE_PATH}/")
        for pattern, operation in self._paths:
            if operation.method == exchange.method and (
                match := re.fullmatch(pattern, f"/{path}")
            ):
                return (
                    base,
                    operation,
                    {name: unquote(value) for name, value in match.groupdict().items()},
                )
        return base, None, {}

    def _recognize(
        self, exchanges: Sequence[RecordedExchange]
    ) -> Iterator[RecordedCall]:
        """Iterate over the calls of the service, whose address is the one that most calls have."""
        matches, links, number, now = (
            list(map(self._match, exchanges)),
            dict[str, str](),
            0,
            DAY_MS,
        )
        bases = Counter(
            base for base, operation, _ in matches if operation is not None
        ).most_common(1)
        for exchange, (base, matched, parameters) in zip(
            exchanges, matches, strict=True
        ):
            surface = (
                exchange.entry.bytes if exchange.entry else links.get(exchange.url)
            )
            operation = matched if base in dict(bases) else None
            if operation is not None or surface in BYTE_SURFACES:
                now = max(now, exchange.at or 0)
                seen = {
                    "number": number,
                    "at": now,
                    "is_timed": exchange.at is not None,
                    "surface": surface,
                }
                read = self._read(exchange, operation, surface)
                call = RecordedCall(
                    **asdict(exchange) | seen | read,
                    operation=operation,
                    parameters=parameters,
                )
                links.update(_links_in(call))
                number += 1
                yield call

    def _read(
        self,
        exchange: RecordedExchange,
        operation: OperationContract | None,
        surface: object,
    ) -> dict[str, Any]:
        """Read the bodies of a call by the contract."""
        contract, answer, status = (
            self.contract,
            json_of(exchange.response_body),
            exchange.status or 0,
        )
        body = json_of(exchange.request_body) if operation and operation.body else None
        if body is None or contract.violations(str(operation and operation.body), body):
            body = {}
        schema, violations = (
            "DirectUploadResponseBody" if surface == "upload" else None,
            list[Violation](),
        )
        if operation is not None:
            schema = contract.schema_of_success(operation, status)
        is_partial = exchange.request_body is None and bool(
            operation.body if operation else surface == "upload"
        )
        answer = answer if isinstance(answer, dict) else {}
        if schema is None or status // 100 != 2:
            answer = {
                name: answer[name]
                for name in _OF_PROBLEMS
                if isinstance(answer.get(name), str)
            }
        elif exchange.response_body is None:
            is_partial = True
        else:
            violations = contract.violations(schema, answer)
            answer = _without(answer, violations)
            if any(
                found.kind != "missing" for found in contract.violations(schema, answer)
            ):
                answer = {}  # more than are reported at once
        return {
            "body": body,
            "answer": answer,
            "violations": violations,
            "is_partial": is_partial,
        }

    # What it shows --------------------------------------------------------------------------------------------------

    def of(self, *names: str) -> Iterator[RecordedCall]:
        """Iterate over the calls of some operations or surfaces, in order; of all, if none is named."""
        return (call for call in self.calls if not names or call.name in names)

    def whole(self, *names: str) -> Iterator[RecordedCall]:
        """Iterate over the same calls, except those without an answer, or whose bodies were cut off or lost."""
        return (
            call
            for call in self.of(*names)
            if call.status is not None and not call.is_partial
        )

    @cached_property
    def works(self) -> Mapping[str, RecordedWork]:
        """Every Operation and Generation that an answer shows, by id. Replays of an admission are looks at its work."""
        kinds = ("operation", "generation")
        return {
            name: RecordedWork(name, looks)
            for (kind, name), looks in self.shown.items()
            if kind in kinds
        }

    @cached_property
    def shown(self) -> Mapping[tuple[str, str], Sequence[Look]]:
        """Every resource that an answer shows, by its kind and id, with the calls that show it."""
        shown: dict[tuple[str, str], list[Look]] = {}
        for call in self.calls:
            for resource in call.resources:
                if "id" in resource and "object" in resource:
                    shown.setdefault((resource["object"], resource["id"]), []).append(
                        Look(call, resource)
                    )
        return shown

    @cached_property
    def uploads(self) -> Mapping[str, RecordedCall]:
        """The first call that shows each Upload Session, by the session's id and by its address."""
        uploads: dict[str, RecordedCall] = {}
        for call in self.of("createUpload"):
            if "url" in (shown := call.answer.get("upload", {})):
                uploads.setdefault(str(call.answer.get("id")), call)
                uploads.setdefault(shown["url"], call)
        return uploads

    def admissions(self) -> Iterator[tuple[RecordedCall, RecordedWork]]:
        """Iterate over the calls that admitted work."""
        return (
            (work.admission, work)
            for work in self.works.values()
            if work.admission is not None
        )


def _without(answer: dict[str, Any], violations: Sequence[Violation]) -> dict[str, Any]:
    """Return an answer without the values that break the contract; the last items of a list first."""
    places = dict.fromkeys(
        found.steps for found in violations if found.kind == "invalid" and found.steps
    )
    for *steps, last in reversed(places):
        holder: Any = answer
        for step in steps:
            holder = holder[step]
        del holder[last]
    return answer


def _may_be_of_service(call: RecordedCall) -> bool:
    """Whether an answer has a form of this service: another API may have the same paths."""
    if call.is_partial or call.status == 204:
        return True
    return (
        "object" in call.answer or "page" in call.answer
        if call.is_success
        else call.code in CATALOGUE
    )


def _links_in(call: RecordedCall) -> Iterator[tuple[str, str]]:
    """Iterate over the addresses of byte surfaces in an answer."""
    for resource in call.resources:
        for name, leaf in leaves(resource):
            if name in _LINKS and isinstance(leaf, str):
                yield leaf, "upload" if "upload" in resource else "download"
    if call.surface == "download" and call.status in REDIRECTS:
        yield call.response_headers.get("location", ""), "download"

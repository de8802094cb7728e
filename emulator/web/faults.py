"""What a scenario or a header asks to go wrong with one request, and how it comes about (interfaces, section 7).

A problem is raised at the place in the order of checks where the service itself would raise it, so that it has the same
consequences. An answer that is to be lost is lost on the wire, by the connection under the request.
"""

import asyncio
from email.utils import formatdate
from urllib.parse import quote

from emulator.domain.admission import NOTHING_DUE_RETRY_SECONDS
from emulator.domain.problems import CATALOGUE, Check, Problem, excerpt
from emulator.http.extensions import CONNECTION_EXTENSION, Connection
from emulator.http.requests import Receive, Scope, Send, send_response, until_gone
from emulator.http.responses import JSON_TYPE, Header, Response
from emulator.http.stopping import Stop
from emulator.kernel.timestamps import SECOND_MS, seconds_up
from emulator.scenario.faults import DeprecatedFault, NetworkFault, ProblemFault
from emulator.service.accounts import Caller

FAULT_HEADER = b"emulator-fault"
_HEADER_SAFE = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")
_RATE_RETRY_SECONDS = 5
_GARBAGE = b"\x00\xff<<<not the answer that you expected>>>\xfe{"
"""What stands in for the answer of a request that was lost before anything happened."""


class LostAnswerError(ConnectionResetError):
    """The answer is lost, and the server gave no connection to lose it on (in-process clients see this instead)."""


def requested_fault(header: bytes, codes: frozenset[str]) -> ProblemFault:
    """Read the header `Emulator-Fault`. Raises Problem invalid_request for a code that the operation cannot return."""
    code = header.decode("latin-1").strip()
    if code not in codes:
        expected = ", ".join(sorted(codes))
        raise Problem(
            "invalid_request",
            f"Emulator-Fault: found {excerpt(code)}; expected one of {expected}",
            remedy="ask for a code that this operation can return",
        )
    return ProblemFault(code)


def injected_problem(fault: ProblemFault, caller: Caller, now: int) -> Problem:
    """Return the problem that the service itself would answer with."""
    kind = CATALOGUE[fault.code]
    retry_after, wait_ms = fault.retry_after, 0
    if retry_after is None and kind.status in (429, 503):
        wait_ms = _wait_ms(fault.code, caller, now)
        retry_after = max(seconds_up(wait_ms), 1)
    operation_id = _active_operation_id(caller) if fault.code == "resource_operation_in_progress" else None
    detail = fault.detail or f"{kind.title.lower()}: {kind.recovery}"
    return Problem(fault.code, detail, retry_after=retry_after, retry_wait_ms=wait_ms, active_operation_id=operation_id)


def _wait_ms(code: str, caller: Caller, now: int) -> int:
    """Return the wait that the service itself would ask for (D42, D47)."""
    account = caller.account
    if code == "rate_limited":
        return _RATE_RETRY_SECONDS * SECOND_MS
    if code == "service_unavailable":
        pause = account.pause if account.pause.paused else caller.sandbox.pause
        return pause.retry_after * SECOND_MS
    wait_ms = account.budget.wait_ms(now)
    return NOTHING_DUE_RETRY_SECONDS * SECOND_MS if wait_ms is None else wait_ms


def _active_operation_id(caller: Caller) -> str:
    """Return an Operation to be polled: the Team's newest, an unfinished one first; if it has none, an unknown id."""
    sandbox = caller.sandbox
    unfinished = [work_id for work_id in caller.account.budget.finishes_at if work_id in sandbox.store.operations.items]
    found = unfinished or sandbox.store.operations.ids(caller.team_id)
    # An id of a kind of its own, so that those of Operations to come stay what they are (D09).
    return found[-1] if found else "op" + sandbox.identifiers.next("fault").removeprefix("fault")


def decided_at_entrance(code: str) -> bool:
    """Tell whether the service decides a code before it looks at the request itself."""
    return CATALOGUE[code].check in (Check.CREDENTIAL, Check.RATE)


def deprecation_headers(fault: DeprecatedFault, since: int) -> tuple[Header, ...]:
    """Return the headers of deprecated behaviour (section 9, rule 4; D43)."""
    headers = [(b"deprecation", b"@%d" % (since // SECOND_MS))]
    if fault.link is not None:
        headers.append((b"link", f'<{fault.link}>; rel="deprecation"'.encode()))
    if fault.sunset is not None:
        headers.append((b"sunset", formatdate(fault.sunset / SECOND_MS, usegmt=True).encode()))
    return tuple(headers)


def rule_name(name: str) -> bytes:
    """Write the name of a rule as a header can carry it: what is not ASCII is percent-encoded, as UTF-8."""
    return quote(name, safe=_HEADER_SAFE).encode()


def is_lost_before_commit(fault: NetworkFault | None) -> bool:
    """Tell whether nothing must happen because the answer is lost; a read may happen all the same."""
    return fault is not None and fault.at == "before_commit"


def unanswered(status: int, request_id: str) -> Response:
    """Return what is lost in the place of an answer that never was: a beginning of it, under the status it would have."""
    headers = (JSON_TYPE, (b"content-length", b"100"), (b"request-id", request_id.encode()))
    return Response(status if status != 204 else 200, headers, b'{"object":'.ljust(100))


async def lose(fault: NetworkFault, response: Response, scope: Scope, receive: Receive, send: Send, stop: Stop) -> None:
    """Send an answer as the network fault has it: late, broken off, half, never, or as garbage."""
    if fault.kind == "latency":
        await stop.cut_short(asyncio.sleep(fault.latency_ms / SECOND_MS))
        await send_response(send, response)
    elif fault.kind == "garbage":
        kept = [header for header in response.headers if header[0] not in (b"content-type", b"content-length")]
        headers = (JSON_TYPE, (b"content-length", b"%d" % len(_GARBAGE)), *kept)
        status = response.status if response.body else 200  # no other may have a body
        await send_response(send, Response(status, headers, _GARBAGE))
    elif fault.kind == "stall":
        if await stop.cut_short(until_gone(receive)):
            _connection(scope).close()
            await until_gone(receive)
    else:
        if fault.kind == "truncate":
            await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
            half = response.body[: len(response.body) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})
        connection = _connection(scope)
        connection.close() if fault.kind == "truncate" else connection.reset()
        await until_gone(receive)


def _connection(scope: Scope) -> Connection:
    connection: Connection | None = scope.get("extensions", {}).get(CONNECTION_EXTENSION, {}).get("connection")
    if connection is None:
        raise LostAnswerError("the answer was lost by a scenario")
    return connection

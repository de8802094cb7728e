"""The request of a recorded call, as it is sent to an emulator: with the emulator's ids,
and with what it refers to put in before.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

import msgspec

from image_workflow_emulator.contract import BASE_PATH, OperationContract
from image_workflow_emulator.domain.problems import WORLD_CODES
from image_workflow_emulator.drift.beginning import KIND_OF_MEMBER, Beginning
from image_workflow_emulator.drift.json_values import leaves
from image_workflow_emulator.drift.names import Names
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic
from image_workflow_emulator.testing.application import ORIGIN

KEY: Final = "iwe_recorded_full"
"""The API key with which all calls are sent."""
_AUTHORIZATION: Final = {"authorization": f"Bearer {KEY}"}


class RepeatedRequest(NamedTuple):
    """A request to the emulator."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""


class RequestRepeater:
    """Makes the requests of a replay."""

    def __init__(
        self,
        traffic: Traffic,
        names: Names,
        beginning: Beginning,
    ) -> None:
        self._traffic = traffic
        self._names = names
        self._beginning = beginning

    def request_for(self, call: RecordedCall) -> RepeatedRequest | None:
        """Return the request to send for a call.

        None if it had no answer, or needs what was there before the recording. Uploads are
        not repeated, since nobody can tell what the service makes of a picture: the Asset
        is put in, and read.
        """
        if call.status is None or call.surface == "upload":
            return None
        if call.surface == "download":
            return self._download(call)
        if call.name == "completeUpload":
            return self._read_of_asset(call)
        return self._call_of_operation(call)

    def _download(self, call: RecordedCall) -> RepeatedRequest | None:
        link = self._names.own.get(call.url)
        if link is None:
            return None
        return RepeatedRequest(
            method=call.method,
            target=link.removeprefix(ORIGIN),
            headers={},
        )

    def _read_of_asset(self, call: RecordedCall) -> RepeatedRequest | None:
        asset = call.answer.get("id")
        if asset is None:
            return None
        own_id = self._beginning.put("asset", asset)
        return RepeatedRequest(
            method="GET",
            target=f"{BASE_PATH}/assets/{own_id}",
            headers=_AUTHORIZATION,
        )

    def _call_of_operation(self, call: RecordedCall) -> RepeatedRequest | None:
        operation = call.operation
        assert operation is not None
        self._put_what_is_referred_to(call)
        if call.is_success and self._lacks_value(call):
            return None
        return RepeatedRequest(
            method=call.method,
            target=self._target(call, operation),
            headers=_headers(call, operation),
            body=self._body(call),
        )

    def _lacks_value(self, call: RecordedCall) -> bool:
        """Whether the emulator has nothing in place of an id or cursor of a call."""
        needed = set(call.parameters.values())
        needed.add(call.query.get("after", ""))
        needed.discard("")
        return not needed <= self._names.own.keys()

    def _target(self, call: RecordedCall, operation: OperationContract) -> str:
        parameters = {}
        for name, value in call.parameters.items():
            own = self._names.own_or_same(value)
            parameters[name] = quote(own, safe="")
        target = BASE_PATH + operation.path.format_map(parameters)
        query = self._names.translated(call.query)
        if query:
            target += f"?{urlencode(query)}"
        return target

    def _body(self, call: RecordedCall) -> bytes:
        if call.body:
            own_body = self._names.translated(call.body)
            return msgspec.json.encode(own_body)
        return call.request_body or b""

    def _put_what_is_referred_to(self, call: RecordedCall) -> None:
        """Put in what a call refers to, if the recording shows that it was there."""
        for member, identifier in (*call.parameters.items(), *leaves(call.body)):
            kind = KIND_OF_MEMBER.get(member)
            if kind is None or not isinstance(identifier, str):
                continue
            if call.is_success or self._traffic.snapshots_of(kind, identifier):
                self._beginning.put(kind, identifier)


def _headers(call: RecordedCall, operation: OperationContract) -> dict[str, str]:
    headers: dict[str, str] = {}
    if call.code != "authentication_required":
        headers |= _AUTHORIZATION
    if call.key is not None:
        headers["idempotency-key"] = call.key
    elif operation.takes_key and call.status != 400:  # an exporter dropped it
        headers["idempotency-key"] = f"recorded-{call.number}"
    if call.request_body is not None:
        content_type = call.request_headers.get("content-type", "application/json")
        headers["content-type"] = content_type
    if call.code in WORLD_CODES and call.code in operation.all_codes:
        headers["emulator-fault"] = call.code
    return headers

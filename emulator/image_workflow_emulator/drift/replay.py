"""A recording sent again to an emulator: with its ids learnt, at its times, in the world
that it shows.

What the service's world did (a pause, a failed slot, how long work took) is brought about,
so that only meanings are left to differ. Compares nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

import msgspec

from image_workflow_emulator.app import Application
from image_workflow_emulator.client.control_client import Answer
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.domain.problems import WORLD_CODES
from image_workflow_emulator.domain.resources import OPERATION_TYPES, WORKFLOWS
from image_workflow_emulator.drift.beginning import KIND_OF_MEMBER, Beginning
from image_workflow_emulator.drift.json_values import leaves
from image_workflow_emulator.drift.names import Names
from image_workflow_emulator.drift.traffic import RecordedCall, RecordedWork, Traffic
from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.imaging.messages import Head, Message
from image_workflow_emulator.kernel.timestamps import (
    DAY_MS,
    SECOND_MS,
    format_timestamp,
)
from image_workflow_emulator.scenario.outcomes import FAILURE_CODES
from image_workflow_emulator.settings import read_settings
from image_workflow_emulator.testing.application import ORIGIN, ask
from image_workflow_emulator.testing.option_texts import option_texts

_TEAM: Final = "Recorded"
_KEY: Final = "iwe_recorded_full"
_AUTHORIZATION: Final = {"authorization": f"Bearer {_KEY}"}
_QUEUE_MS: Final = 1
_STEP_MS: Final = 3
"""The least time between two calls: work can be queued, run and end within it."""
_WORLD: Final = {
    "timings": {"queue": f"{_QUEUE_MS}ms"},
    "teams": {
        _TEAM: {
            "credits": 1_000_000,
            "concurrency_limit": 1_000,
            "credentials": [{"key": _KEY, "name": _TEAM, "profile": "full"}],
        }
    },
}
_KNOWN_WORK: Final = (*WORKFLOWS, *OPERATION_TYPES)
_MAX_DURATION_MS: Final = 30 * DAY_MS


class Replayed(NamedTuple):
    """A recorded call, and what the emulator answered to it."""

    call: RecordedCall
    answer: Answer | None
    """None if the emulator could not be asked."""


class DescribedPictures(Helpers):
    """Does the jobs of helper processes with descriptions in place of pictures, which
    nobody looks at.
    """

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Answer a job at once."""
        return {"scene": "clean"}, [msgspec.json.encode(head.get("recipe"))]


class _Request(NamedTuple):
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""


class Replay:
    """One replay of a recording, by an emulator with some readings.

    `readings` is a text that `--readings` takes.
    """

    def __init__(self, traffic: Traffic, readings: str) -> None:
        self._traffic = traffic
        self._schedule = _schedule(traffic.calls)
        self._changes = _changes(traffic)
        self._admitted = {
            call.number: work
            for call, work in traffic.admissions()
            if work.kind in _KNOWN_WORK
        }
        options = {
            "clock": "manual",
            "start": format_timestamp(self._schedule[0] if traffic.calls else DAY_MS),
            "rate_limits": "off",
            "readings": readings,
            "world": _WORLD,
        }
        with option_texts(options) as texts:
            settings = read_settings(texts, {})
            self._application = Application(settings, DescribedPictures())
        self._sandbox = self._application.sandboxes.default
        self.names = Names()
        self.beginning = Beginning(self._sandbox, _TEAM, traffic, self.names)

    async def run(self) -> list[Replayed]:
        """Send every call again, in order."""
        return [await self._replay(call) for call in self._traffic.calls]

    async def _replay(self, call: RecordedCall) -> Replayed:
        """Send a call at its time, in the world that it met."""
        instant = self._schedule[call.number]
        if instant > self._sandbox.clock.now():
            target = {"to": format_timestamp(instant)}
            await self._control("POST", "/clock/advance", target)
        request = self._request(call)
        if request is None:
            return Replayed(call, None)
        work = self._admitted.get(call.number)
        if work is not None:
            await self._control("PUT", "/scenario", self._fate(call, work))
        answer = await ask(self._application, *request)
        if work is not None:
            await self._control("DELETE", "/scenario")
        self.names.learn(call, answer)
        return Replayed(call, answer)

    async def _control(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> None:
        content = b""
        headers: dict[str, str] = {}
        if body is not None:
            content = msgspec.json.encode(body)
            headers["content-type"] = "application/json"
        target = f"/_emulator{path}"
        answer = await ask(self._application, method, target, headers, content)
        assert answer.status < 400, answer.body

    # The request ----------------------------------------------------------------------

    def _request(self, call: RecordedCall) -> _Request | None:
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

    def _download(self, call: RecordedCall) -> _Request | None:
        link = self.names.own.get(call.url)
        if link is None:
            return None
        return _Request(call.method, link.removeprefix(ORIGIN), {})

    def _read_of_asset(self, call: RecordedCall) -> _Request | None:
        asset = call.answer.get("id")
        if asset is None:
            return None
        path = f"{BASE_PATH}/assets/{self.beginning.put('asset', asset)}"
        return _Request("GET", path, _AUTHORIZATION)

    def _call_of_operation(self, call: RecordedCall) -> _Request | None:
        operation = call.operation
        assert operation is not None
        self._put_what_is_referred_to(call)
        needed = {*call.parameters.values(), call.query.get("after", "")} - {""}
        if call.is_success and needed - self.names.own.keys():
            return None
        own = self.names.own
        parameters = {
            name: quote(own.get(value, value), safe="")
            for name, value in call.parameters.items()
        }
        query = {name: own.get(value, value) for name, value in call.query.items()}
        target = BASE_PATH + operation.path.format_map(parameters)
        if query:
            target += f"?{urlencode(query)}"
        body = call.request_body or b""
        if call.body:
            body = msgspec.json.encode(self.names.translated(call.body))
        return _Request(call.method, target, _headers(call), body)

    def _put_what_is_referred_to(self, call: RecordedCall) -> None:
        """Put in what a call refers to, if the recording shows that it was there."""
        for member, identifier in (*call.parameters.items(), *leaves(call.body)):
            kind = KIND_OF_MEMBER.get(member)
            if kind is None or not isinstance(identifier, str):
                continue
            if call.is_success or (kind, identifier) in self._traffic.snapshots:
                self.beginning.put(kind, identifier)

    # The world ------------------------------------------------------------------------

    def _fate(self, call: RecordedCall, work: RecordedWork) -> dict[str, Any]:
        """Return the scenario by which work ends as it was seen to end: just before the
        call that shows its end, with the same outputs failed.
        """
        then: dict[str, Any] = {"stall": True}
        ended_by = work.finished_by or self._unblocked_call(work)
        if ended_by is not None:
            begins = self._schedule[call.number] + _QUEUE_MS
            ends = self._schedule[ended_by.number] - 1
            duration_ms = min(max(1, ends - begins), _MAX_DURATION_MS)
            then = {"duration": f"{duration_ms / SECOND_MS:.3f}s", **_failures(work)}
        rule = {"match": {"work": work.kind}, "then": then}
        return {"scenario": "recorded", "rules": [rule]}

    def _unblocked_call(self, work: RecordedWork) -> RecordedCall | None:
        """Return the first change of an ingredient that unfinished work on it would have
        blocked: the work had ended, though no answer shows that.
        """
        admission = work.admission
        if admission is None or not admission.parameters:
            return None
        for change in self._changes.get(_subject(admission), ()):
            is_replay = change.key is not None and change.key == admission.key
            if change.number > admission.number and not is_replay:
                return change
        return None


def _changes(traffic: Traffic) -> dict[tuple[str, ...], list[RecordedCall]]:
    """Return the successful changes of each resource, in order."""
    changes: dict[tuple[str, ...], list[RecordedCall]] = {}
    for call in traffic.calls:
        if call.is_success and call.method in ("PATCH", "DELETE"):
            changes.setdefault(_subject(call), []).append(call)
    return changes


def _subject(call: RecordedCall) -> tuple[str, ...]:
    """Return the ids in the path of a call."""
    return tuple(call.parameters.values())


def _schedule(calls: Sequence[RecordedCall]) -> list[int]:
    """Return the instant at which each call is sent again.

    It is the recorded one, but never that of the call before: a recording may have whole
    seconds only, or no times, and work that ended between two calls ends between them.
    """
    instants: list[int] = []
    earliest = DAY_MS
    for call in calls:
        instant = max(call.at, earliest)
        instants.append(instant)
        earliest = instant + _STEP_MS
    return instants


def _headers(call: RecordedCall) -> dict[str, str]:
    operation = call.operation
    assert operation is not None
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


def _failures(work: RecordedWork) -> dict[str, Any]:
    """Return the part of a scenario's rule that says what of the work fails."""
    outputs = work.last.outputs
    if work.last.status == "failed":
        return {"fail": _failure_code([*outputs, work.last.resource][0])}
    failed = {
        str(slot): _failure_code(output)
        for slot, output in enumerate(outputs, start=1)
        if output.get("status") == "failed"
    }
    return {"outputs": failed} if failed else {}


def _failure_code(holder: Mapping[str, Any]) -> str:
    """Return the code of an error that a scenario can ask for."""
    code = (holder.get("error") or {}).get("code")
    return code if code in FAILURE_CODES else "processing_failed"

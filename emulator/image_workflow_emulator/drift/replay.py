"""A recording sent again to an emulator: with its ids learnt, at its times, in the world
that it shows. Compares nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from image_workflow_emulator.app import Application
from image_workflow_emulator.client.control_client import Answer
from image_workflow_emulator.drift.beginning import Beginning
from image_workflow_emulator.drift.fates import QUEUE_MS, Fates, schedule_of
from image_workflow_emulator.drift.names import Names
from image_workflow_emulator.drift.repeated_requests import KEY, RequestRepeater
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic
from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.imaging.messages import Head, Message
from image_workflow_emulator.kernel.timestamps import DAY_MS, format_timestamp
from image_workflow_emulator.settings import read_settings
from image_workflow_emulator.testing.application import ask
from image_workflow_emulator.testing.option_texts import option_texts

_TEAM: Final = "Recorded"
_WORLD: Final = {
    "timings": {"queue": f"{QUEUE_MS}ms"},
    "teams": {
        _TEAM: {
            "credits": 1_000_000,
            "concurrency_limit": 1_000,
            "credentials": [
                {
                    "key": KEY,
                    "name": _TEAM,
                    "profile": "full",
                }
            ],
        }
    },
}


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
        description = msgspec.json.encode(head.get("recipe"))
        return {"scene": "clean"}, [description]


class Replay:
    """One replay of a recording, by an emulator with some readings.

    `readings` is a text that `--readings` takes.
    """

    def __init__(self, traffic: Traffic, readings: str) -> None:
        self._calls = traffic.calls
        self._schedule = schedule_of(traffic.calls)
        start = DAY_MS
        if self._schedule:
            start = self._schedule[0]
        self._application = _application(start, readings)
        self._sandbox = self._application.sandboxes.default
        self.names = Names()
        self.beginning = Beginning(self._sandbox, _TEAM, traffic, self.names)
        self._requests = RequestRepeater(traffic, self.names, self.beginning)
        self._fates = Fates(traffic, self._schedule)

    async def run(self) -> list[Replayed]:
        """Send every call again, in order."""
        return [await self._replay(call) for call in self._calls]

    async def _replay(self, call: RecordedCall) -> Replayed:
        """Send a call at its time, in the world that it met."""
        await self._advance_to(self._schedule[call.number])
        request = self._requests.request_for(call)
        if request is None:
            return Replayed(call, None)
        scenario = self._fates.scenario_for(call)
        if scenario is not None:
            await self._control("PUT", "/scenario", scenario)
        answer = await ask(self._application, *request)
        if scenario is not None:
            await self._control("DELETE", "/scenario")
        self.names.learn(call, answer)
        return Replayed(call, answer)

    async def _advance_to(self, instant: int) -> None:
        if instant > self._sandbox.clock.now():
            target = {"to": format_timestamp(instant)}
            await self._control("POST", "/clock/advance", target)

    async def _control(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
    ) -> None:
        content = b""
        headers: dict[str, str] = {}
        if body is not None:
            content = msgspec.json.encode(body)
            headers["content-type"] = "application/json"
        answer = await ask(
            self._application,
            method,
            f"/_emulator{path}",
            headers,
            content,
        )
        assert answer.status < 400, answer.body


def _application(start: int, readings: str) -> Application:
    """Return an emulator whose clock begins at an instant."""
    options = {
        "clock": "manual",
        "start": format_timestamp(start),
        "rate_limits": "off",
        "readings": readings,
        "world": _WORLD,
    }
    with option_texts(options) as texts:
        return Application(read_settings(texts, {}), DescribedPictures())

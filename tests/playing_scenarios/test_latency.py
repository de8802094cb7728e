"""The latency that a rule asks for, as the seed draws it: how long the fault waits."""

import asyncio
from typing import Any

import pytest

from image_workflow_emulator.http.answers import Answer
from image_workflow_emulator.scenario.network_faults import NetworkFault


class RequestOnItsWay:
    """What a fault is told of a request, and the connection under it: it notes how long
    either waits.
    """

    is_download = False
    is_read = True
    rule_header = ()

    def __init__(self, draw: float) -> None:
        self.pauses: list[int] = []
        self._draw = draw

    def draw(self) -> float:
        return self._draw

    def fire(self) -> None:
        pass

    async def pause(self, span_ms: int) -> None:
        self.pauses.append(span_ms)

    async def send(self, response: Answer, bytes_per_second: int | None) -> None:
        pass


DRAWN_SPANS = pytest.mark.parametrize(
    ("draw", "expected_ms"),
    [(0.0, 5), (0.5, 6), (0.999, 7)],
)


@DRAWN_SPANS
def test_a_latency_before_the_commit_is_drawn_from_its_span_with_both_ends(
    draw: float,
    expected_ms: int,
) -> None:
    fault = NetworkFault(latency_ms=(5, 7))
    request: Any = RequestOnItsWay(draw)

    ended = asyncio.run(fault.entrance(request))

    assert request.pauses == [expected_ms]
    assert ended is None


@DRAWN_SPANS
def test_a_latency_after_the_commit_is_drawn_from_its_span_with_both_ends(
    draw: float,
    expected_ms: int,
) -> None:
    fault = NetworkFault(at="after_commit", latency_ms=(5, 7))
    request: Any = RequestOnItsWay(draw)

    asyncio.run(fault.wire(request, Answer(200, (), b"{}"), request))

    assert request.pauses == [expected_ms]

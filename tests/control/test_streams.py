"""Answers that are sent piece by piece, beyond what the streams of events and the state files show."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from emulator.control.streams import Stream

LARGE = bytes(1_000_000)


def test_a_large_piece_costs_a_slow_reader_no_more_than_a_part_of_it() -> None:
    sent: list[bytes] = []

    async def pieces() -> AsyncIterator[bytes]:
        yield b"small"
        yield LARGE

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    stays: Any = asyncio.Event().wait
    asyncio.run(Stream(pieces(), {}, "text/plain")({}, stays, send))
    assert b"small" + LARGE == b"".join(sent)
    assert 256 * 1024 >= max(map(len, sent))

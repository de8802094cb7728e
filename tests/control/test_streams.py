"""Answers that are sent piece by piece, beyond what the streams of events and the state files show."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from emulator.control.streams import Stream

LARGE = bytes(1_000_000)


async def _sent(*pieces: bytes) -> list[bytes]:
    """The bodies of the messages in which some pieces are sent to a client that stays."""
    sent: list[bytes] = []

    async def each() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def stay() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    await Stream(each(), {}, "text/plain")({}, stay, send)
    return sent


def test_a_large_piece_costs_a_slow_reader_no_more_than_a_part_of_it() -> None:
    sent = asyncio.run(_sent(b"small", LARGE))
    assert b"small" + LARGE == b"".join(sent)
    assert 256 * 1024 >= max(map(len, sent))

"""The order in which a server reads, answers and writes: all requests that came in one turn of the event loop together.

Reading and writing run through the kernel's network code, after which Python's own is no longer in the processor's caches,
and a task for each request takes time as well. So all requests of a turn are read, then answered in a row, and then their
answers are written in a row, which takes a sixth of the processor time off a small read and off a write.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from emulator.server.cycles import Cycle

_LOGGER = logging.getLogger("emulator.server")
_SMALL_BYTES: Final = 16 * 1024
"""A transport holds back no more bytes than this: it notices a client that reads too slowly only when it writes."""
_MOST_HELD: Final = 32
"""Limit of the answers that wait for each other."""


class Batch:
    """The answers and writes that are due at the end of this turn of the event loop, for all connections of a server."""

    def __init__(self) -> None:
        self._answers: list[tuple[Callable[[Cycle], None], Cycle]] = []
        self._holding: list[HoldingTransport] = []
        self._is_due = False

    def answer(self, answer: Callable[[Cycle], None], cycle: Cycle) -> None:
        """Let a request be answered, behind those that came before it."""
        self._answers.append((answer, cycle))
        self._schedule()

    def write(self, transport: "HoldingTransport") -> None:
        """Let a transport write what it holds."""
        self._holding.append(transport)
        self._schedule()

    def _schedule(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        answers, self._answers = self._answers, []
        for answer, cycle in answers:
            try:
                answer(cycle)
            except Exception:
                _LOGGER.exception("a request was not answered")
            if len(self._holding) >= _MOST_HELD:
                self._write()
        self._is_due = False
        self._write()
        if self._answers:  # to requests that waited for those answers
            self._schedule()

    def _write(self) -> None:
        holding, self._holding = self._holding, []
        for transport in holding:
            transport.write_held()


class HoldingTransport:
    """A transport that holds small writes back until the end of the turn; what uvicorn and the protocol use of one."""

    def __init__(self, transport: asyncio.Transport, batch: Batch) -> None:
        self._transport = transport
        self._batch = batch
        self._held = b""
        self.is_closing = transport.is_closing
        self.get_extra_info = transport.get_extra_info
        self.get_write_buffer_size = transport.get_write_buffer_size
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def write(self, data: bytes) -> None:
        """Write bytes behind those that were written before."""
        if data and not self._held:
            self._batch.write(self)
        self._held += data
        if len(self._held) > _SMALL_BYTES:
            self.write_held()

    def write_held(self) -> None:
        """Write what is held back."""
        held, self._held = self._held, b""
        if held and not self.is_closing():  # uvloop's transport raises an error where the client has left meanwhile
            self._transport.write(held)

    def close(self) -> None:
        """Close the connection when everything is written."""
        self.write_held()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once, after what was written."""
        self.write_held()
        self._transport.abort()

"""The events of a sandbox of a running emulator as they happen: server-sent events, read from a connection of their own."""

import json
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from typing import Any, Final

from emulator.testing.control import ControlClient, HttpTransport

SILENCE_SECONDS: Final = 60.0
"""How long a stream may be silent before it counts as lost: the emulator sends a comment more often."""


def open_events(control: ControlClient) -> Iterator[tuple[str, Any]]:
    """Begin to listen, and return the events from now on, each as its kind and its data.

    They end where the stream does. There are none if it cannot be opened; any other request reports why.
    """
    assert isinstance(control.transport, HttpTransport), "commands speak HTTP"
    try:
        stream = control.transport.open(control.target("events"), control.headers(), SILENCE_SECONDS)
    except (OSError, HTTPException):
        return iter(())
    return _read(stream) if stream.status == 200 else iter(())


def _read(stream: HTTPResponse) -> Iterator[tuple[str, Any]]:
    kind = ""
    try:
        for line in stream:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                yield kind, json.loads(value)
    except (OSError, HTTPException):
        return

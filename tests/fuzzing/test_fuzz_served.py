"""A real server under all of it at once: it goes on serving, its memory is bounded, and its log has nothing to complain of.

The requests are those of the other fuzz tests, over sockets. What they must be answered with is checked there.
"""

import re
import socket
import sys
from pathlib import Path

import pytest

from image_workflow_emulator.imaging.normalize import CONTENT_TYPES
from tests.fuzzing.cases import cases, in_pieces
from tests.fuzzing.requests_as_bytes import Surfaces
from tests.fuzzing.spoiled_pictures import spoiled
from tests.fuzzing.test_fuzz_connections import spoiled_bytes
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.served import Server, serving
from tests.support.served_client import ServedClient

pytestmark = pytest.mark.verify

CONNECTIONS = 8_000
PICTURES = 600
"""Of each format."""
STATUS = re.compile(rb"^HTTP/1\.1 (\d{3}) ", re.MULTILINE)
MAX_MEGABYTES = 500
"""At any moment, for requests and pictures that are small; a picture of 100 megapixels (D17) takes 1,500 by itself."""
LASTING_MEGABYTES = 300


def test_a_server_goes_on_serving_whatever_is_sent(control: EmulatorUnderTest) -> None:
    surfaces = Surfaces(control)
    with serving("--clock", "manual", "--rate-limits", "off") as emulator:
        client = ServedClient(emulator.base_url)
        begin_like(client, control)
        for case in cases("served connections", CONNECTIONS):
            sent = spoiled_bytes(case, surfaces)
            with case.told(sent=sent):
                assert b"500" not in STATUS.findall(converse(emulator, in_pieces(sent, case.chance)))
            if case.begins_an_episode:
                begin_like(client, control)
        assert client.get("/team").status == 200
        assert_memory(emulator)


def test_a_server_goes_on_serving_whatever_picture_is_brought() -> None:
    with serving("--clock", "manual", "--rate-limits", "off") as emulator:
        client = ServedClient(emulator.base_url)
        for content_type in CONTENT_TYPES:
            for case in cases(f"served {content_type}", PICTURES):
                data = spoiled(content_type, case.chance)
                with case.told(data=data.hex()):
                    assert client.complete(*client.ready_upload(data, content_type)).status in (201, 422)
        assert client.get("/team").status == 200
        assert_memory(emulator)


def begin_like(client: ServedClient, control: EmulatorUnderTest) -> None:
    """Put the server into the state of an emulator in this process, which its requests are made for."""
    client.told("PUT", "/state", content=control.ask("GET", "/state").body)


def converse(emulator: Server, pieces: list[bytes]) -> bytes:
    """Send pieces over a connection of their own, end it, and return all that comes back until the server ends it."""
    received = b""
    with emulator.connect() as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)
            while data := connection.recv(65_536):
                received += data
        except TimeoutError:
            raise
        except OSError:  # the server has ended it before all of it was sent
            return received
    return received


def assert_memory(emulator: Server) -> None:
    """Look at the memory of the server, where the system tells."""
    if sys.platform != "linux":
        return
    told = Path(f"/proc/{emulator.process.pid}/status").read_text(encoding="ascii")
    found = {name: int(size) // 1024 for name, size in re.findall(r"^(VmHWM|VmRSS):\s+(\d+) kB$", told, re.MULTILINE)}
    print(f"memory: {found['VmHWM']} MB at most, {found['VmRSS']} MB at the end")
    assert found["VmHWM"] < MAX_MEGABYTES
    assert found["VmRSS"] < LASTING_MEGABYTES

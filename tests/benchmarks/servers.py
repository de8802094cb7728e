"""The servers of the measurements, their world, and the requests to it.

The servers are spawned, timed until they are ready, and ended again.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.compared_servers import KINDS
from tests.support.pictures import photo
from tests.support.served import started

EMULATOR = ("-m", "image_workflow_emulator", "serve", "--port", "0")
COMPARED = {kind: ("-m", "tests.benchmarks.compared_servers", kind) for kind in KINDS}
"""The commands of the other servers, by name."""

TEAMS = 16
"""Each connection of a measurement acts for a Team of its own."""
_TEAM = """
  Team %02d:
    credits: 1000000
    concurrency_limit: 1000000
    requests_per_minute: 100000000
    credentials: [{key: %s, name: Full, profile: full}]
"""


@dataclass(frozen=True, slots=True)
class RunningServer:
    port: int
    ready_ms: float
    process: "subprocess.Popen[str]"

    def cpu_seconds(self) -> float:
        """Return the time that all of its threads have worked until now (Linux)."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


@contextmanager
def running(*arguments: str) -> Iterator[RunningServer]:
    start = time.perf_counter()
    with started(
        sys.executable,
        *arguments,
        stderr=subprocess.DEVNULL,
        PYTHONDONTWRITEBYTECODE="",
    ) as process:
        ready = next(
            (line for line in process.stdout or () if line.startswith("ready ")),
            None,
        )
        ready_ms = (time.perf_counter() - start) * 1000
        if ready is None:
            raise RuntimeError(f"{' '.join(arguments)} ended before it was ready")
        yield RunningServer(int(ready.split(":")[2].split("/")[0]), ready_ms, process)


def key(number: int) -> str:
    return f"team_{number:02}"


def write_world(folder: Path, timings: str = "") -> str:
    """Write the world of a measurement.

    Only the ceiling that all Teams have limits their requests.
    """
    path = folder / f"world-{len(list(folder.iterdir()))}.yaml"
    teams = [_TEAM % (number, key(number)) for number in range(TEAMS)]
    path.write_text("".join(["teams:", *teams, timings]))
    return str(path)


class Template(NamedTuple):
    """A request as bytes, with a place for a number in those that need their own."""

    before: bytes
    after: bytes = b""
    """What follows the number; empty where there is none."""

    def number(self, number: int) -> bytes:
        """Return the bytes with a number."""
        if not self.after:
            return self.before
        return b"%b%012d%b" % (self.before, number, self.after)


def template(
    method: str,
    path: str,
    key: str,
    body: Any = None,
    is_numbered: bool = False,
) -> Template:
    """Write a request with JSON; a numbered one has its own Idempotency-Key each time."""
    if body is None:
        return _template(method, path, key)
    content = json.dumps(body).encode()
    return _template(method, path, key, "application/json", content, is_numbered)


def _template(
    method: str,
    path: str,
    key: str,
    media_type: str | None = None,
    content: bytes = b"",
    is_numbered: bool = False,
) -> Template:
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {key}",
    ]
    if media_type is not None:
        lines.append(f"Content-Type: {media_type}")
        lines.append(f"Content-Length: {len(content)}")
    head = "\r\n".join(lines)
    end = b"\r\n\r\n" + content
    if is_numbered:
        return Template(f"{head}\r\nIdempotency-Key: ".encode(), end)
    return Template(head.encode() + end)


def bare_request(request: Template, size: int) -> Template:
    """Return the request as the compared servers get it.

    Its path asks the raw one for an answer of this size.
    """
    method, _, rest = request.before.split(b" ", 2)
    return Template(b"%b /%d %b" % (method, size, rest), request.after)


def prepared_requests(
    ask: Callable[[bytes], bytes],
    team: int,
    numbers: Iterator[int],
) -> list[Template]:
    """Make what the requests of a Team refer to, and return them: a read, a write, a list and a poll."""
    asset = make_asset(ask, team, photo("image/jpeg", (40, 30)))
    product = {"name": "Bench", "asset_ids": [asset], "primary_asset_id": asset}
    create = template("POST", "/v1/products", key(team), product, is_numbered=True)
    for _ in range(30):
        ask(create.number(next(numbers)))
    order = photoshoot(asset)
    shoot = template(
        "POST",
        "/v1/generations/product-photography",
        key(team),
        order,
        is_numbered=True,
    )
    generation = json.loads(ask(shoot.number(next(numbers))))["id"]
    read = template("GET", "/v1/team", key(team))
    page = template("GET", "/v1/products", key(team))
    poll = template("GET", f"/v1/generations/{generation}", key(team))
    return [read, create, page, poll]


def photoshoot(asset: str) -> dict[str, Any]:
    return {"asset_ids": [asset], "output_mode": "photoshoot"}


def make_asset(
    ask: Callable[[bytes], bytes],
    team: int,
    data: bytes,
) -> str:
    path = f"/_emulator/assets?team=Team%20{team:02}"
    upload = _template("POST", path, "none", "image/jpeg", data)
    return str(json.loads(ask(upload.before))["id"])

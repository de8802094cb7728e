"""The servers of the measurements (spawned, timed until ready, ended again), their world, and the requests to it."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.pictures import photo
from tests.support.served import started

RAW = ("-m", "tests.benchmarks.raw_server")
EMULATOR = ("-m", "image_workflow_emulator", "serve", "--port", "0")

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
            (line for line in process.stdout or () if line.startswith("ready ")), None
        )
        ready_ms = (time.perf_counter() - start) * 1000
        if ready is None:
            raise RuntimeError(f"{' '.join(arguments)} ended before it was ready")
        yield RunningServer(int(ready.split(":")[2].split("/")[0]), ready_ms, process)


def key(number: int) -> str:
    return f"team_{number:02}"


def write_world(folder: Path, timings: str = "") -> str:
    """Write the world of a measurement; only the ceiling that all Teams have limits their requests."""
    path = folder / f"world-{len(list(folder.iterdir()))}.yaml"
    path.write_text(
        "teams:"
        + "".join(_TEAM % (number, key(number)) for number in range(TEAMS))
        + timings
    )
    return str(path)


class Template(NamedTuple):
    """A request as bytes; where one needs a number of its own, what comes before and after it."""

    before: bytes
    after: bytes = b""

    def number(self, number: int) -> bytes:
        return (
            b"%b%012d%b" % (self.before, number, self.after)
            if self.after
            else self.before
        )


def template(
    method: str, path: str, key: str, body: Any = None, is_numbered: bool = False
) -> Template:
    """Write a request; a numbered one has an Idempotency-Key of its own each time."""
    content = (
        body
        if isinstance(body, bytes)
        else b""
        if body is None
        else json.dumps(body).encode()
    )
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    if body is not None:
        media_type = "image/jpeg" if isinstance(body, bytes) else "application/json"
        head += f"Content-Type: {media_type}\r\nContent-Length: {len(content)}\r\n"
    if is_numbered:
        return Template(f"{head}Idempotency-Key: ".encode(), b"\r\n\r\n" + content)
    return Template(f"{head}\r\n".encode() + content)


def raw_request(request: Template, size: int) -> Template:
    """Return a request to the raw server, whose path asks for an answer of this size."""
    method, _, rest = request.before.split(b" ", 2)
    return Template(b"%b /%d %b" % (method, size, rest), request.after)


def prepared_requests(
    ask: Callable[[bytes], bytes], team: int, numbers: Iterator[int]
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
    read, page, poll = (
        template("GET", path, key(team))
        for path in ("/v1/team", "/v1/products", f"/v1/generations/{generation}")
    )
    return [read, create, page, poll]


def photoshoot(asset: str) -> dict[str, Any]:
    return {"asset_ids": [asset], "output_mode": "photoshoot"}


def make_asset(ask: Callable[[bytes], bytes], team: int, data: bytes) -> str:
    path = f"/_emulator/assets?team=Team%20{team:02}"
    return str(json.loads(ask(template("POST", path, "none", data).before))["id"])

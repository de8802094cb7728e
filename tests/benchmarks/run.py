"""Measures the emulator beside a raw ASGI function on the same server, round by round in turn: `make bench`.

Read the ratios: both sides met the same machine in the same second. Those of rates compare the processor's time that the
server spent on a request, which is how many requests it could answer if nothing else held it up: on a busy machine, or with
no more than two processors, the clients would hold up both sides. It is no test; it ends with success whatever it finds.

All gates are on: credentials, request rates, idempotency, budget, Credits. A Team may send 600 requests a minute, no more,
whatever a world says; so each of the 16 connections acts for a Team of its own, and the server under load runs a clock 400
times as fast as the host's: then 16 Teams may send 64,000 requests in a second of the host's, and their sliding windows are
filled and emptied all the time. (An even faster clock would let one Team do, but every answer would be written in a second
of its own, and the emulator remembers how it wrote the last seconds.) Where work must come to an end, an `auto` clock serves.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

if __name__ in ("__main__", "__mp_main__"):  # run as a file, its folder is on the path, not the checkout
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks import load
from tests.benchmarks.load import Connection, Template, template
from tests.benchmarks.servers import EMULATOR, RAW, TEAMS, RunningServer, key, running, write_world
from tests.support.served_client import ServedClient

FAST_CLOCK = ("--clock", "x400")
UNENDING = "timings: {first_output: 10d}\n"
"""Generations go on for all of the measurement: 10 days are over after half an hour of the fast clock."""
UPLOAD_BYTES = 70 * 1024 * 1024
NUMBERS_PER_ROUND = 1_000_000


class Load(NamedTuple):
    """What a server did under load, and the seconds of processor time that each answer cost it."""

    answers: load.Answers
    cost: float


@dataclass(slots=True)
class Figures:
    """One row: what was measured in each round, on both sides where there are two."""

    name: str
    unit: str
    aim: str = ""
    emulator: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)

    def add(self, emulator: float, raw: float | None = None, ratio: float | None = None) -> None:
        """Take note of a round; the ratio is emulator to raw unless it is given."""
        self.emulator.append(emulator)
        if raw is not None:
            self.raw.append(raw)
            self.ratios.append(emulator / raw if ratio is None else ratio)

    def add_rates(self, emulator: Load, raw: Load) -> None:
        """Take note of a round of rates."""
        self.add(emulator.answers.a_second, raw.answers.a_second, raw.cost / emulator.cost)

    def row(self) -> list[str]:
        """Return the cells: name, emulator, raw, ratio with its spread, aim."""
        return [
            self.name,
            f"{spread(self.emulator)} {self.unit}",
            f"{spread(self.raw)} {self.unit}" if self.raw else "",
            spread(self.ratios, 2) if self.ratios else "",
            self.aim,
        ]


def spread(values: list[float], digits: int | None = None) -> str:
    """Write a median with the least and the greatest value."""
    if digits is None:
        digits = 0 if statistics.median(values) >= 1000 else 1
    middle, least, most = (f"{value:,.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} ({least} to {most})"


@dataclass(frozen=True, slots=True)
class Bench:
    folder: Path
    clients: Executor
    rounds: int
    seconds: float
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    """For Idempotency-Keys."""

    def away(self, measure: Callable[..., Any], *arguments: Any) -> Any:
        """Measure from another process, and wait for it."""
        return self.clients.submit(measure, *arguments).result()

    @contextmanager
    def servers(self, *options: str, timings: str = "") -> Iterator[tuple[RunningServer, RunningServer]]:
        """Run an emulator with the world of the measurements, and beside it the raw server."""
        world = write_world(self.folder, timings)
        with running(*EMULATOR, "--world", world, *options) as emulator, running(*RAW) as raw:
            yield emulator, raw


def measure_start(bench: Bench) -> list[Figures]:
    """Time from the process's birth to its ready line, and its memory then."""
    ready = Figures("ready after spawn", "ms", "150 ms")
    memory = Figures("idle memory", "MiB", "45 MB")
    for number in range(bench.rounds + 2):
        with running(*EMULATOR) as emulator:
            found = emulator.ready_ms, emulator.resident_mib()
        with running(*RAW) as raw:
            if number:  # the first of each writes its compiled modules
                ready.add(found[0], raw.ready_ms)
                memory.add(found[1], raw.resident_mib())
    return [ready, memory]


def measure_rates(bench: Bench) -> list[Figures]:
    """Requests a second, on 16 connections."""
    figures = [
        Figures("GET /team", "/s", "0.6"),
        Figures("POST /products", "/s", "0.4"),
        Figures("GET /products, 25 of them", "/s", "0.45"),
        Figures("poll of an unfinished Generation", "/s", "0.5"),
    ]
    with bench.servers(*FAST_CLOCK, timings=UNENDING) as (emulator, raw):
        prepared = [prepared_requests(bench, emulator.port, team) for team in range(TEAMS)]
        for _ in range(bench.rounds):
            for row, *requests in zip(figures, *prepared, strict=True):
                row.add_rates(*both_under_load(bench, emulator, raw, requests))
    return figures


def measure_latencies(bench: Bench) -> list[Figures]:
    """Milliseconds that 99 of 100 requests take at most, and the longest time without an answer to anybody."""
    figures = {number: Figures(f"p99 of GET /team, {number} connections", "ms", "1.5 x raw") for number in (16, 64)}
    pauses = Figures("longest pause of POST /products", "ms", "10 ms")
    with bench.servers(*FAST_CLOCK, timings=UNENDING) as (emulator, raw):
        prepared = [prepared_requests(bench, emulator.port, team) for team in range(TEAMS)]
        reads, writes = [requests[0] for requests in prepared], [requests[1] for requests in prepared]
        for _ in range(bench.rounds):
            for number, row in figures.items():
                found = both_under_load(bench, emulator, raw, reads * (number // TEAMS))
                row.add(*(one.answers.p99_ms for one in found))
            pauses.add(*(one.answers.longest_pause_ms for one in both_under_load(bench, emulator, raw, writes)))
    return [*figures.values(), pauses]


def both_under_load(
    bench: Bench, emulator: RunningServer, raw: RunningServer, requests: list[Template]
) -> tuple[Load, Load]:
    """Put the emulator under load, and then the raw server with the same requests and answers of the same size."""
    size = len(Connection(emulator.port).ask(requests[0].number(next(bench.numbers))).body)
    raw_requests = [raw_request(request, size) for request in requests]
    return under_load(bench, emulator, requests), under_load(bench, raw, raw_requests)


def raw_request(request: Template, size: int) -> Template:
    """Return a request with another path: that of an answer of this size."""
    method, _, rest = request.before.split(b" ", 2)
    return Template(b"%b /%d %b" % (method, size, rest), request.after)


def under_load(bench: Bench, server: RunningServer, requests: list[Template]) -> Load:
    first_number = next(bench.numbers) * NUMBERS_PER_ROUND  # no key is used twice
    worked = server.cpu_seconds()
    answers = bench.away(load.put_under_load, server.port, requests, bench.seconds, first_number)
    return Load(answers, (server.cpu_seconds() - worked) / answers.number)


def prepared_requests(bench: Bench, port: int, number: int) -> list[Template]:
    """Make what the requests of a Team refer to, and return them."""
    connection, team = Connection(port), key(number)
    asset = asset_of(number, port, photo(40, 30))
    product = {"name": "Bench", "asset_ids": [asset], "primary_asset_id": asset}
    create = template("POST", "/v1/products", team, product, is_numbered=True)
    for _ in range(30):
        connection.ask(create.number(next(bench.numbers)))
    shoot = template("POST", "/v1/generations/product-photography", team, photoshoot(asset), is_numbered=True)
    generation = connection.ask(shoot.number(next(bench.numbers))).json()
    connection.stream.close()
    return [
        template("GET", "/v1/team", team),
        create,
        template("GET", "/v1/products", team),
        template("GET", f"/v1/generations/{generation['id']}", team),
    ]


def measure_access_log(bench: Bench) -> Figures:
    """What a line for each request costs: in the column of the raw server is the emulator that writes none."""
    figures = Figures("GET /team, with its line", "/s", "0.9")
    world = write_world(bench.folder)
    options = (*EMULATOR, "--world", world, *FAST_CLOCK)
    with running(*options, "--access-log", "on") as telling, running(*options) as silent:
        requests = [template("GET", "/v1/team", key(team)) for team in range(TEAMS)]
        for _ in range(bench.rounds):
            figures.add_rates(under_load(bench, telling, requests), under_load(bench, silent, requests))
    return figures


def measure_uploads(bench: Bench) -> Figures:
    """Milliseconds for the largest file."""
    figures = Figures("upload of 70 MiB", "ms")
    body = {"content_type": "image/jpeg", "size_bytes": UPLOAD_BYTES}
    create = template("POST", "/v1/uploads", key(0), body, is_numbered=True)
    with bench.servers("--clock", "auto") as (emulator, raw):
        for _ in range(bench.rounds):
            recipe = Connection(emulator.port).ask(create.number(next(bench.numbers))).json()["upload"]
            path = "/" + recipe["url"].split("/", 3)[3]
            took = bench.away(load.measure_upload, emulator.port, path, recipe["headers"], UPLOAD_BYTES)
            figures.add(took, bench.away(load.measure_upload, raw.port, "/60", recipe["headers"], UPLOAD_BYTES))
    return figures


def measure_pictures(bench: Bench) -> list[Figures]:
    """A photoshoot from order to four files; a 4k picture of each format, and who has to wait for it."""
    shoot = Figures("photoshoot to four files", "ms", "150 ms")
    formats = {name: Figures(f"4k {name} to file", "ms") for name in ("png", "jpeg", "webp")}
    stalls = {name: Figures(f"longest stall by 4k {name}", "ms", "20 ms") for name in formats}
    path = "/v1/generations/product-photography"
    with bench.servers("--clock", "auto") as (emulator, _):
        asset = asset_of(0, emulator.port, photo(2000, 1500))
        order = photoshoot(asset)
        bench.away(load.measure_generation, emulator.port, key(0), path, order, next(bench.numbers))
        for _ in range(bench.rounds):
            shoot.add(bench.away(load.measure_generation, emulator.port, key(0), path, order, next(bench.numbers))[0])
            for name, figures in formats.items():
                large = {**order, "output_mode": "single_shots", "resolution": "4k", "output_format": name}
                ordered = (emulator.port, key(0), path, large, next(bench.numbers))
                took, stall, calm = watched(bench, emulator.port, *ordered)
                figures.add(took)
                stalls[name].add(stall, calm)
    return [shoot, *formats.values(), *stalls.values()]


def watched(bench: Bench, port: int, *ordered: Any) -> tuple[float, float, float]:
    """Make a picture while somebody looks on; return its time, the longest stall, and that of an equal time of calm."""
    keys = [key(number) for number in range(1, TEAMS)]  # by turns, lest one meets its limit
    took, _ = bench.away(load.measure_generation, *ordered)
    seconds = took / 1000 * 1.5 + 0.15
    calm = bench.away(load.watch, port, keys, seconds)
    watcher = bench.clients.submit(load.watch, port, keys, seconds)
    again = (*ordered[:-1], next(bench.numbers))
    took, _ = bench.away(load.measure_generation, *again)
    return took, watcher.result(), calm


def photoshoot(asset: str) -> dict[str, Any]:
    return {"asset_ids": [asset], "output_mode": "photoshoot"}


def photo(width: int, height: int) -> bytes:
    """Return a file with something in it, as a camera would make it."""
    from PIL import Image, ImageDraw

    image = Image.effect_mandelbrot((width, height), (-2.0, -1.5, 1.0, 1.5), 50).convert("RGB")
    ImageDraw.Draw(image).ellipse((width // 3, height // 5, width * 2 // 3, height * 4 // 5), fill=(180, 60, 40))
    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def asset_of(team: int, port: int, data: bytes) -> str:
    client = ServedClient(f"http://127.0.0.1:{port}")
    headers = {"Content-Type": "image/jpeg"}
    return client.ask("POST", f"/assets?team=Team%20{team:02}", content=data, headers=headers).id


def print_table(rows: list[Figures]) -> None:
    head = ["", "emulator: median (least to greatest)", "raw ASGI", "emulator / raw", "aim"]
    cells = [head, *(row.row() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the emulator beside a raw ASGI function on the same server.")
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    quick = parser.parse_args().quick
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        clients = stack.enter_context(ProcessPoolExecutor(2, get_context("spawn")))
        bench = Bench(folder, clients, rounds=2 if quick else 5, seconds=0.2 if quick else 0.6)
        rows = measure_start(bench)
        rows += measure_rates(bench)
        rows += measure_latencies(bench)
        rows.append(measure_access_log(bench))
        rows.append(measure_uploads(bench))
        rows += measure_pictures(bench)
    print_table(rows)


if __name__ == "__main__":
    main()

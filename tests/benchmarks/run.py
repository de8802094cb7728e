"""Measures the emulator beside a raw ASGI function on the same server, round by round in turn: `make bench`.

Read the ratios: both sides met the same machine in the same second. Of requests, the server's processor time is
compared, raw to emulator: on a busy machine the clients would hold up both sides. It is no test; it ends with success
whatever it finds.

The access log is on, as users have it, and so are all gates. A Team may send 600 requests a minute, whatever a world
says; so each of the 16 connections acts for a Team of its own, and the server under load runs a clock 400 times as fast
as the host's: 16 Teams may then send 64,000 requests in a second. Where work must come to an end, an `auto` clock
serves.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

if __name__ in (
    "__main__",
    "__mp_main__",
):  # run as a file, its folder is on the path, not the checkout
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks import instructions, load, servers
from tests.benchmarks.load import Connection
from tests.support.pictures import photo

FAST_CLOCK = ("--clock", "x400")
UNENDING = "timings: {first_output: 10d}\n"
"""Generations go on for all of the measurement: 10 days are over after half an hour of the fast clock."""
NUMBERS_PER_ROUND = 1_000_000


@dataclass(slots=True)
class Figures:
    """One row: what was measured in each round, on both sides where there are two."""

    name: str
    unit: str
    aim: str = ""
    emulator: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    is_rate: bool = False
    """Whether the ratio is that of rates, the inverse of costs."""

    def add(self, emulator: float, raw: float | None = None) -> None:
        """Take note of a round."""
        self.emulator.append(emulator)
        if raw is not None:
            self.raw.append(raw)

    def row(self) -> list[str]:
        """Return the cells: name, emulator, raw, ratio, aim; each by the least and by the median of the rounds."""
        cells = [self.name, f"{both(self.emulator)} {self.unit}", "", "", self.aim]
        if self.raw:
            ratios = [
                middle(self.emulator) / middle(self.raw)
                for middle in (min, statistics.median)
            ]
            cells[2] = f"{both(self.raw)} {self.unit}"
            cells[3] = " / ".join(
                f"{1 / ratio if self.is_rate else ratio:.2f}" for ratio in ratios
            )
        return cells


def both(values: list[float]) -> str:
    """Write the least and the median."""
    return f"{min(values):,.1f} / {statistics.median(values):,.1f}"


@dataclass(frozen=True, slots=True)
class Bench:
    folder: Path
    clients: Executor
    rounds: int
    seconds: float
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    """Numbers for Idempotency-Keys."""

    def away(self, measure: Callable[..., Any], *arguments: Any) -> Any:
        """Measure from another process, and wait for it."""
        return self.clients.submit(measure, *arguments).result()

    @contextmanager
    def servers(
        self, *options: str, timings: str = ""
    ) -> Iterator[tuple[servers.RunningServer, servers.RunningServer]]:
        """Run an emulator with the world of the measurements, and beside it the raw server."""
        world = servers.write_world(self.folder, timings)
        with (
            servers.running(*servers.EMULATOR, "--world", world, *options) as emulator,
            servers.running(*servers.RAW) as raw,
        ):
            yield emulator, raw


def measure_start(bench: Bench) -> list[Figures]:
    """Time from the process's birth to its ready line."""
    ready = Figures("ready after spawn", "ms", "1.8 x raw")
    for number in range(bench.rounds + 2):
        with (
            servers.running(*servers.EMULATOR) as emulator,
            servers.running(*servers.RAW) as raw,
        ):
            if number:  # the first of each writes its compiled modules
                ready.add(emulator.ready_ms, raw.ready_ms)
    return [ready]


def measure_requests(bench: Bench) -> list[Figures]:
    """Processor time and p99 of each kind of request on 16 connections."""
    kinds = {
        "GET /team": "0.42",
        "POST /products": "0.25",
        "GET /products, 25 of them": "0.36",
        "poll of a Generation": "0.38",
    }
    costs = [Figures(name, "us", aim, is_rate=True) for name, aim in kinds.items()]
    latencies = [Figures(f"p99 of {name}", "ms", "3 x raw") for name in kinds]
    with bench.servers(*FAST_CLOCK, timings=UNENDING) as (emulator, raw):
        connection = Connection(emulator.port)
        prepared = [
            servers.prepared_requests(connection.read, team, bench.numbers)
            for team in range(servers.TEAMS)
        ]
        for _ in range(bench.rounds):
            for cost, latency, *requests in zip(
                costs, latencies, *prepared, strict=True
            ):
                found = both_under_load(bench, emulator, raw, requests)
                cost.add(*(cost_us for cost_us, _ in found))
                latency.add(*(p99_ms for _, p99_ms in found))
    return [*costs, *latencies]


def both_under_load(
    bench: Bench,
    emulator: servers.RunningServer,
    raw: servers.RunningServer,
    requests: list[servers.Template],
) -> list[tuple[float, float]]:
    """Put the emulator under load, and then the raw server with the same requests and answers of the same size.

    Returns the microseconds of processor time for an answer, and the p99, of each.
    """
    size = len(
        Connection(emulator.port).ask(requests[0].number(next(bench.numbers))).body
    )
    raw_requests = [servers.raw_request(request, size) for request in requests]
    found = []
    for server, sent in ((emulator, requests), (raw, raw_requests)):
        first_number = next(bench.numbers) * NUMBERS_PER_ROUND  # no key is used twice
        worked = server.cpu_seconds()
        number, p99_ms = bench.away(
            load.put_under_load, server.port, sent, bench.seconds, first_number
        )
        found.append(((server.cpu_seconds() - worked) / number * 1e6, p99_ms))
    return found


def measure_pictures(bench: Bench) -> list[Figures]:
    """A photoshoot from order to four files."""
    shoot = Figures("photoshoot to four files", "ms", "150 ms")
    with bench.servers("--clock", "auto") as (emulator, _):
        order = servers.photoshoot(
            servers.make_asset(
                Connection(emulator.port).read, 0, photo("image/jpeg", (2000, 1500))
            )
        )
        bench.away(
            load.measure_photoshoot,
            emulator.port,
            servers.key(0),
            order,
            next(bench.numbers),
        )
        for _ in range(bench.rounds):
            shoot.add(
                bench.away(
                    load.measure_photoshoot,
                    emulator.port,
                    servers.key(0),
                    order,
                    next(bench.numbers),
                )
            )
    return [shoot]


def print_table(rows: list[list[str]]) -> None:
    cells = [
        ["least / median of the rounds", "emulator", "raw ASGI", "ratio", "aim"],
        *rows,
    ]
    widths = [
        max(len(line[column]) for line in cells) for column in range(len(cells[0]))
    ]
    for line in cells:
        print(
            "  ".join(
                cell.ljust(width) for cell, width in zip(line, widths, strict=True)
            ).rstrip()
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Measure the emulator beside a raw ASGI function on the same server."
    )
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    quick = parser.parse_args().quick
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        clients = stack.enter_context(ProcessPoolExecutor(1, get_context("spawn")))
        bench = Bench(
            folder, clients, rounds=2 if quick else 5, seconds=0.2 if quick else 0.6
        )
        rows = measure_start(bench)
        rows += measure_requests(bench)
        rows += measure_pictures(bench)
    print_table([*(row.row() for row in rows), *instructions.rows()])


if __name__ == "__main__":
    main()

"""Measures the emulator beside servers with nothing behind them: `make bench`.

Read the ratios: all sides met the same machine in the same second, round by round in
turn. Of requests, the servers' processor time is compared: on a busy machine the clients
would hold up all sides. It is no test; it ends with success whatever it finds.

The access log is on, as users have it, and so are all gates. A Team may send 600
requests a minute, whatever a world says; so each of the 16 connections acts for a Team
of its own, and the server under load runs a clock 400 times as fast as the host's: 16
Teams may then send 64,000 requests in a second. Where work must come to an end, an
`auto` clock serves.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

# Where this file is run, its folder is on the path, and not the checkout.
if __name__ in ("__main__", "__mp_main__"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks import compared_servers, instructions, load, servers
from tests.benchmarks.figures import EMULATOR, Figure, print_table
from tests.benchmarks.load import Connection
from tests.benchmarks.servers import RunningServer, Template
from tests.support.pictures import photo

FAST_CLOCK: Final = ("--clock", "x400")
UNENDING: Final = "timings: {first_output: 10d}\n"
"""Generations go on for all of the measurement: 10 days are over after half an hour of
the fast clock."""
NUMBERS_PER_ROUND: Final = 1_000_000
REQUEST_AIMS: Final = {
    "GET /team": "1.6",
    "POST /products": "3.4",
    "GET /products, 25 of them": "",
    "poll of a Generation": "1.6",
}
"""The kinds of requests that are measured, and the aims of their ratio."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What all measurements need."""

    folder: Path
    clients: Executor
    rounds: int
    seconds: float
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    """Numbers for Idempotency-Keys."""

    def away(self, measure: Callable[..., Any], *arguments: Any) -> Any:
        """Measure from another process, and wait for it."""
        return self.clients.submit(measure, *arguments).result()


def measure_start(bench: Bench) -> list[Figure]:
    """Time from the process's birth to its ready line."""
    ready = Figure("ready after spawn", "ms", "starlette", "1.8")
    world = servers.write_world(bench.folder)
    commands = {
        EMULATOR: (*servers.EMULATOR, "--world", world),
        **servers.COMPARED,
    }
    for number in range(bench.rounds + 2):
        for name, command in commands.items():
            with servers.running(*command) as server:
                if number:  # the first of each writes its compiled modules
                    ready.add(name, server.ready_ms)
    return [ready]


def measure_requests(bench: Bench) -> list[Figure]:
    """Processor time and p99 of each kind of request on 16 connections."""
    costs = [Figure(name, "us", "starlette", aim) for name, aim in REQUEST_AIMS.items()]
    latencies = [Figure(f"p99 of {name}", "ms", "raw", "4") for name in REQUEST_AIMS]
    world = servers.write_world(bench.folder, UNENDING)
    with ExitStack() as stack:
        command = (*servers.EMULATOR, "--world", world, *FAST_CLOCK)
        emulator = stack.enter_context(servers.running(*command))
        compared = {
            name: stack.enter_context(servers.running(*command))
            for name, command in servers.COMPARED.items()
        }
        connection = Connection(emulator.port)
        requests_by_team = [
            servers.prepared_requests(connection.read, team, bench.numbers)
            for team in range(servers.TEAMS)
        ]
        requests_by_kind = list(zip(*requests_by_team, strict=True))
        for _ in range(bench.rounds):
            for cost, latency, requests in zip(
                costs,
                latencies,
                requests_by_kind,
                strict=True,
            ):
                measure_kind(bench, emulator, compared, requests, cost, latency)
    return [*costs, *latencies]


def measure_kind(
    bench: Bench,
    emulator: RunningServer,
    compared: dict[str, RunningServer],
    requests: tuple[Template, ...],
    cost: Figure,
    latency: Figure,
) -> None:
    """Put all servers under load in turn.

    The raw server answers with as many bytes as the emulator.
    """
    first_answer = Connection(emulator.port).ask(
        requests[0].number(next(bench.numbers))
    )
    bare_requests = [
        servers.bare_request(request, len(first_answer.body)) for request in requests
    ]
    cost_us, p99_ms = put_under_load(bench, emulator, list(requests))
    cost.add(EMULATOR, cost_us)
    latency.add(EMULATOR, p99_ms)
    for name, server in compared.items():
        cost_us, p99_ms = put_under_load(bench, server, bare_requests)
        cost.add(name, cost_us)
        latency.add(name, p99_ms)


def put_under_load(
    bench: Bench,
    server: RunningServer,
    requests: list[Template],
) -> tuple[float, float]:
    """Return the microseconds of processor time for an answer, and the p99 in ms."""
    first_number = next(bench.numbers) * NUMBERS_PER_ROUND  # no key is used twice
    worked_before = server.cpu_seconds()
    answers, p99_ms = bench.away(
        load.put_under_load,
        server.port,
        requests,
        bench.seconds,
        first_number,
    )
    worked = server.cpu_seconds() - worked_before
    return worked / answers * 1e6, p99_ms


def measure_pictures(bench: Bench) -> list[Figure]:
    """A photoshoot from order to four files."""
    shoot = Figure("photoshoot to four files", "ms", aim="150 ms")
    world = servers.write_world(bench.folder)
    command = (*servers.EMULATOR, "--world", world, "--clock", "auto")
    with servers.running(*command) as emulator:
        read = Connection(emulator.port).read
        asset = servers.make_asset(read, 0, photo("image/jpeg", (2000, 1500)))
        order = servers.photoshoot(asset)
        for number in range(bench.rounds + 1):
            took_ms = bench.away(
                load.measure_photoshoot,
                emulator.port,
                servers.key(0),
                order,
                next(bench.numbers),
            )
            if number:  # the helper processes start with the first
                shoot.add(EMULATOR, took_ms)
    return [shoot]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description="Measure the emulator beside servers with nothing behind them."
    )
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    rounds = 5
    seconds = 0.6
    if parser.parse_args().quick:
        rounds = 2
        seconds = 0.2
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        clients = stack.enter_context(ProcessPoolExecutor(1, get_context("spawn")))
        bench = Bench(folder, clients, rounds, seconds)
        figures = measure_start(bench)
        figures += measure_requests(bench)
        figures += measure_pictures(bench)
    figures += instructions.figures()
    print_table(figures, (EMULATOR, *compared_servers.KINDS))


if __name__ == "__main__":
    main()

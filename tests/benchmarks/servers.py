"""The servers of the measurements: spawned, timed until ready, and ended again."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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

    def resident_mib(self) -> float:
        """Return the memory that it holds (Linux)."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("the kernel tells no VmRSS")


@contextmanager
def running(*arguments: str) -> Iterator[RunningServer]:
    start = time.perf_counter()
    with started(sys.executable, *arguments, stderr=subprocess.DEVNULL, PYTHONDONTWRITEBYTECODE="") as process:
        ready = next((line for line in process.stdout or () if line.startswith("ready ")), None)
        ready_ms = (time.perf_counter() - start) * 1000
        if ready is None:
            raise RuntimeError(f"{' '.join(arguments)} ended before it was ready")
        yield RunningServer(int(ready.split(":")[2].split("/")[0]), ready_ms, process)


def key(number: int) -> str:
    return f"team_{number:02}"


def write_world(folder: Path, timings: str = "") -> str:
    """Write the world of a measurement; only the ceiling that all Teams have limits their requests."""
    path = folder / f"world-{len(list(folder.iterdir()))}.yaml"
    path.write_text("teams:" + "".join(_TEAM % (number, key(number)) for number in range(TEAMS)) + timings)
    return str(path)

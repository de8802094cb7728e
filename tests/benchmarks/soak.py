"""Memory must be flat: over many loads and deletions beside requests, and over days of mixed work.

A replaced or deleted sandbox must be freed, whatever was in flight. Days of emulated time with a small live set must need
no more memory than the first one.

Plays uploads, Products, reads, downloads, refusals and deletion, one round a minute of emulated time, and a pose and a
photoshoot an hour, and prints the resident memory of the server after each emulated hour. The first day fills what is
bounded: the journal, the idempotency records and the notes of the examiner. Generations cannot be deleted, so their
list is read by short pages: the journal keeps answers, and would keep ever longer ones.
"""

import argparse
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from image_workflow_emulator.testing import Emulator
from tests.support.emulator_client import ingredient_body
from tests.support.pictures import noise
from tests.support.served import serving
from tests.support.served_client import ServedClient

ROUNDS_PER_HOUR = 60
HOURS_TO_FILL = 24
CLIENTS = 4
PICTURE = noise(400)
"""About half a megabyte."""
TOLERANCE = 1.05
"""How much the memory at the end may exceed that of the first day."""


class Client(ServedClient):
    """A client of one Team."""

    def download(self, asset: str) -> None:
        self.fetch(self.get(f"/assets/{asset}").json["url"])

    def round(self) -> None:
        """Do a minute's work that leaves nothing behind: upload, Product, reads, a download, refusals, deletion."""
        (asset,) = self.assets(1)
        product = self.product(asset)["id"]
        self.patch(f"/products/{product}", {"name": "Soaked"})
        self.download(asset)
        for path in ("/team", "/assets", "/products", "/generations?limit=5", "/poses", "/assets/none"):
            self.get(path)
        self.post("/products", {"name": ""})
        self.delete(f"/products/{product}")
        self.delete(f"/assets/{asset}")

    def work(self) -> Iterator[str]:
        """Have a pose and a photoshoot made, and delete what can be deleted; yields before the wait."""
        (asset,) = self.assets(1)
        pose = self.post("/poses", ingredient_body("pose", [asset])).id
        shoot = self.photograph(asset_ids=[asset], output_mode="photoshoot").id
        yield "work"
        outputs = self.get(f"/generations/{shoot}").json["outputs"]
        self.delete(f"/poses/{self.get(f'/operations/{pose}').json['result']['id']}")
        for identifier in (asset, *(output["asset"]["id"] for output in outputs)):
            self.download(identifier)
            self.delete(f"/assets/{identifier}")


def resident_mib(process: int) -> float:
    """Return the resident memory of a process and of its helpers, in MiB (Linux)."""
    threads = Path(f"/proc/{process}/task").glob("*/children")  # each tells of the helpers that it started
    helpers = [helper for thread in threads for helper in thread.read_text().split()]
    pages = sum(int(Path(f"/proc/{each}/statm").read_text().split()[1]) for each in (process, *helpers))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def flat(what: str, begin: float, end: float) -> bool:
    """Print the memory at two moments, and tell whether it is about the same."""
    print(f"{what} {begin:.1f} MiB, at the end {end:.1f} MiB", flush=True)
    return end <= begin * TOLERANCE


def upload_until(is_done: threading.Event, client: Client) -> None:
    """Upload pictures. Some requests end with another state than the one with which they began."""
    while not is_done.is_set():
        session = client.post("/uploads", {"content_type": "image/png", "size_bytes": len(PICTURE)})
        if session.status == 201 and (sent := client.send_bytes(session.json, PICTURE)).status == 200:
            client.complete(session.json, sent.json["upload_token"])
        client.get("/assets")


def replace_beside_requests(times: int) -> bool:
    """Load a state so many times, and delete as many sandboxes, beside requests; tell whether memory stays flat."""
    measured, is_done = list[float](), threading.Event()
    with serving("--rate-limits", "off", "--access-log", "off") as server, TemporaryDirectory() as folder:
        emulator, process = Emulator.connect(server.url), server.process.pid
        sandbox, file = emulator.default, Path(folder, "state.zip")
        client = Client(sandbox.base_url, sandbox.api_key)
        for _ in range(8):
            client.upload(PICTURE)
        sandbox.save(file)
        threads = [threading.Thread(target=upload_until, args=(is_done, client)) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(times):
                sandbox.load(file)
                with emulator.sandbox() as other:
                    other.load(file)
                measured.append(resident_mib(process))
        finally:
            is_done.set()
            for thread in threads:
                thread.join()
    third = times // 3
    return flat(f"after {third} loads and deletions", max(measured[:third]), measured[-1])


def play_days(days: int) -> bool:
    """Play, print the memory of each hour, and tell whether it stays flat after the first day."""
    with serving("--clock", "manual", "--rate-limits", "off", "--access-log", "off") as server:
        sandbox, process = Emulator.connect(server.url).default, server.process.pid
        client, measured = Client(sandbox.base_url, sandbox.api_key), list[float]()
        for hour in range(24 * days):
            sandbox.team("Demo").set(credits=1_000)
            for _wait in client.work():
                sandbox.clock.idle()
            for _ in range(ROUNDS_PER_HOUR):
                client.round()
                sandbox.clock.advance(3600 // ROUNDS_PER_HOUR)
            measured.append(resident_mib(process))
            print(f"hour {hour + 1:3}  {measured[-1]:7.1f} MiB", flush=True)
    return flat("after one day", max(measured[:HOURS_TO_FILL]), measured[-1])


def main() -> int:
    """Play, print, and return 1 if memory grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--loads", type=int, default=300)
    options = parser.parse_args()
    results = [replace_beside_requests(options.loads), play_days(options.days)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

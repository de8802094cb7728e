"""Days of emulated time with mixed work and a small live set: memory must be flat after the first day.

Plays uploads, Products, reads, downloads, refusals and deletion, one round a minute of emulated time, and a pose and a
photoshoot an hour, and prints the resident memory of the server after each emulated hour. The first day fills what is
bounded: the journal, the idempotency records and the notes of the examiner. Generations cannot be deleted, so their
list is read by short pages: the journal keeps answers, and would keep ever longer ones.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from emulator.testing import Emulator
from tests.support.emulator_client import ingredient_body
from tests.support.served import serving
from tests.support.served_client import ServedClient

ROUNDS_PER_HOUR = 60
HOURS_TO_FILL = 24
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


def main() -> int:
    """Play, print, and return 1 if memory grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=3)
    days = parser.parse_args().days
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
    when_full, at_end = max(measured[:HOURS_TO_FILL]), measured[-1]
    print(f"after one day {when_full:.1f} MiB, at the end {at_end:.1f} MiB")
    return 0 if at_end <= when_full * TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())

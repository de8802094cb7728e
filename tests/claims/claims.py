"""Runs the command below each promise of docs/reference/claims.md, and writes below it what came of that: `make
claims`.

A claim whose command fails keeps that result: the page shows it. Promises and commands are written by hand.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "reference" / "claims.md"
CLAIM: Final = re.compile(
    r"^## (?P<title>.+)\n\n.+\n\n```sh\n(?P<command>.+)\n```\n\n(?P<result>(?:(?!## ).*\n)+)",
    re.M,
)
TOTALS: Final = re.compile(r"\d+ (?:passed|failed|skipped|error).* in [\d.]+ ?s")
"""What pytest says at the end of a run."""
TIMEOUT_SECONDS: Final = 3_600
OF_MAKE: Final = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "OPTIONS")
"""Variables of `make claims OPTIONS=...`, which would otherwise become options of a claim's own command."""


def claims(page: str) -> dict[str, re.Match[str]]:
    """Find the claims of the page by their names: the titles as words of a command line."""
    return {
        claim["title"].lower().replace(" ", "-"): claim
        for claim in CLAIM.finditer(page)
    }


def prove(command: str) -> tuple[bool, str]:
    """Run a claim's command; tell whether it succeeded, and its result in the form of the page."""
    inherited = {
        name: value for name, value in os.environ.items() if name not in OF_MAKE
    }
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        check=False,
        cwd=ROOT,
        env=inherited,
        stdout=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    if done.returncode:
        print(done.stdout)  # what failed
    totals = TOTALS.findall(done.stdout)
    verdict = ", **not proved**" if done.returncode else ""
    table = [
        line.rstrip()
        for line in done.stdout.splitlines()
        if line and not line.startswith((".venv", "make"))
    ]
    figures = (
        f": {totals[-1]}.\n"
        if totals
        else ":\n\n```text\n{}\n```\n".format("\n".join(table))
    )
    return (
        not done.returncode,
        f"On {time.strftime('%Y-%m-%d', time.gmtime())}{verdict}{figures}",
    )


def main() -> int:
    """Run the commands of some claims, or of all, and write their results; return 1 if one was not proved."""
    names = list(claims(PAGE.read_text(encoding="utf-8")))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"claims (default: all): {', '.join(names)}",
    )
    wanted = parser.parse_args().names or names
    if unknown := set(wanted) - set(names):
        parser.error(
            f"unknown: {', '.join(sorted(unknown))}; expected some of: {', '.join(names)}"
        )
    are_proved = []
    for name in wanted:
        command = claims(PAGE.read_text(encoding="utf-8"))[name]["command"]
        print(f"{name}: {command}", flush=True)
        is_proved, result = prove(command)
        are_proved.append(is_proved)
        print(f"  {result}", flush=True)
        page = PAGE.read_text(encoding="utf-8")
        start, end = claims(page)[name].span("result")
        PAGE.write_text(
            page[:start] + result + ("\n" if page[end:] else "") + page[end:],
            encoding="utf-8",
        )
    return 0 if all(are_proved) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Runs the command below each promise of docs/reference/claims.md: `make claims`.

The result is written below the command. A claim whose command fails keeps that result:
the page shows it. Promises and commands are written by hand.
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
    r"^## (?P<title>.+)\n\n"
    r".+\n\n"
    r"```sh\n(?P<command>.+)\n```\n\n"
    r"(?P<result>(?:(?!## ).*\n)+)",
    re.MULTILINE,
)
TOTALS: Final = re.compile(r"\d+ (?:passed|failed|skipped|error).* in [\d.]+ ?s")
"""What pytest says at the end of a run."""
TIMEOUT_SECONDS: Final = 3_600
OF_MAKE: Final = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "OPTIONS")
"""Variables of `make claims OPTIONS=...`.

They would otherwise become options of a claim's own command.
"""


def claims(page: str) -> dict[str, re.Match[str]]:
    """Return the claims of the page by name: the title as a word of a command line."""
    return {
        claim["title"].lower().replace(" ", "-"): claim
        for claim in CLAIM.finditer(page)
    }


def prove(command: str) -> tuple[bool, str]:
    """Run a claim's command.

    Returns whether it succeeded, and its result in the form of the page.
    """
    inherited = {
        name: value for name, value in os.environ.items() if name not in OF_MAKE
    }
    outcome = subprocess.run(
        ["/bin/sh", "-c", command],
        check=False,
        cwd=ROOT,
        env=inherited,
        stdout=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    is_proved = outcome.returncode == 0
    verdict = "" if is_proved else ", **not proved**"
    if not is_proved:
        print(outcome.stdout)
    today = time.strftime("%Y-%m-%d", time.gmtime())
    return is_proved, f"On {today}{verdict}{figures_in(outcome.stdout)}"


def figures_in(output: str) -> str:
    """Return the totals of pytest; of any other command all that it wrote."""
    totals = TOTALS.findall(output)
    if totals:
        return f": {totals[-1]}.\n"
    lines = [
        line.rstrip()
        for line in output.splitlines()
        if line and not line.startswith((".venv", "make"))
    ]
    return "\n".join([":", "", "```text", *lines, "```", ""])


def read_page() -> str:
    return PAGE.read_text(encoding="utf-8")


def write_result(name: str, result: str) -> None:
    """Put a result in place of a claim's last one."""
    page = read_page()
    start, end = claims(page)[name].span("result")
    before = page[:start] + result
    if page[end:]:
        before += "\n"
    PAGE.write_text(before + page[end:], encoding="utf-8")


def main() -> int:
    """Run the commands of some claims, or of all, and write their results.

    Returns 1 if one was not proved.
    """
    names = list(claims(read_page()))
    listed = ", ".join(names)
    parser = argparse.ArgumentParser(description=__doc__)
    help_text = f"claims (default: all): {listed}"
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=help_text,
    )
    chosen = parser.parse_args().names or names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; expected some of: {listed}")
    are_proved = True
    for name in chosen:
        command = claims(read_page())[name]["command"]
        print(f"{name}: {command}", flush=True)
        is_proved, result = prove(command)
        print(f"  {result}", flush=True)
        write_result(name, result)
        are_proved = are_proved and is_proved
    return 0 if are_proved else 1


if __name__ == "__main__":
    sys.exit(main())

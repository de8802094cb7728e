"""What the project claims, the command that proves each claim, and what came of it last: `make claims`.

Runs the commands, keeps their figures in tests/claims/figures.json, and renders docs/claims.md from them. A claim whose
command fails keeps that result: the page shows it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree as ET

import msgspec

ROOT: Final = Path(__file__).resolve().parents[2]
FIGURES: Final = ROOT / "tests" / "claims" / "figures.json"
PAGE: Final = ROOT / "docs" / "claims.md"
TIMEOUT_SECONDS: Final = 3_600
OF_MAKE: Final = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "OPTIONS")
"""What `make claims OPTIONS=...` hands down, which would be the options of a claim's own command."""


class Claim(NamedTuple):
    """A promise, and the command that proves it."""

    name: str
    promise: str
    command: str


CLAIMS: Final = (
    Claim(
        "operations",
        "All 38 operations answer, and every answer is valid against the contract, whatever is sent.",
        "make test TESTS=tests/contract_runs",
    ),
    Claim(
        "problem-codes",
        "Each of the 24 problem codes has a cause of its own and a scenario that brings it about.",
        'make test TESTS="tests/service/test_every_problem.py tests/playing_scenarios"',
    ),
    Claim(
        "specification",
        "Random clients find no difference between the emulator and a second, plain statement of the rules.",
        "make verify TESTS=tests/model",
    ),
    Claim(
        "determinism",
        "The same seed, clock and requests give the same bytes: in two processes, in four gaits, over a saved state.",
        "make test TESTS=tests/histories",
    ),
    Claim(
        "no-false-alarm",
        "Clients that keep to the specification are accused of nothing, under every scenario of the library.",
        "make verify TESTS=tests/examiner",
    ),
    Claim(
        "readings",
        "A reading that a service has in secret is found from a recording, and no other one is.",
        "make verify TESTS=tests/drift",
    ),
    Claim(
        "generated-clients",
        "Clients that generators make from the contract finish a tour from the upload to the downloaded pictures.",
        "make verify TESTS=tests/clients",
    ),
    Claim(
        "hostile-input",
        "Nothing that is sent or loaded causes a 500, a hang or a lost state.",
        "make verify TESTS=tests/fuzzing",
    ),
    Claim(
        "planted-faults",
        "The tests notice each of the faults that are planted into the emulator, one at a time.",
        "make verify TESTS=tests/mutants",
    ),
    Claim(
        "foreign-pages",
        "A page elsewhere in the same browser can neither read from the emulator nor change anything in it.",
        'make test TESTS="tests/http tests/control/test_guard.py"',
    ),
    Claim(
        "safe-to-leave-running",
        "Memory is flat over 300 loads beside requests in flight, and over days of mixed work.",
        "make soak",
    ),
    Claim(
        "speed",
        "A request costs a small multiple of what the bare server costs, in the same run on the same machine.",
        "make bench",
    ),
)


class Result(msgspec.Struct):
    """What came of a command: the day, whether it succeeded, and its figures as text."""

    date: str
    is_proved: bool
    figures: str


def prove(claim: Claim) -> Result:
    """Run a claim's command."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        inherited = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
        environment = {**inherited, "PYTEST_ADDOPTS": f"--junitxml={report}"}
        started = time.monotonic()
        done = subprocess.run(  # the commands are those above
            ["/bin/sh", "-c", claim.command],
            check=False,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        seconds = time.monotonic() - started
        if done.returncode:
            print(done.stdout)  # what failed, for whoever mends it
        figures = _counts(report, seconds) if report.exists() else _output(done.stdout)
    return Result(time.strftime("%Y-%m-%d", time.gmtime()), done.returncode == 0, figures)


def _counts(report: Path, seconds: float) -> str:
    """Word the totals of a JUnit report."""
    suites = ET.parse(report).getroot().iter("testsuite")
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for suite in suites:
        for name in counts:
            counts[name] += int(suite.get(name, "0"))
    failed = counts["failures"] + counts["errors"]
    passed = counts["tests"] - failed - counts["skipped"]
    return f"{passed:,} tests passed, {failed} failed, {counts['skipped']} skipped, in {seconds:.0f} s"


def _output(text: str) -> str:
    """Keep of a measurement its table, or where it has none its first and last line."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith((".venv", "make"))]
    return "\n".join(lines if len(lines) < 20 else [lines[0], "...", lines[-1]])


def read_figures() -> dict[str, Result]:
    """Return the last results by the names of the claims."""
    return msgspec.json.decode(FIGURES.read_bytes(), type=dict[str, Result]) if FIGURES.exists() else {}


def render(figures: dict[str, Result]) -> str:
    """Return the page."""
    parts = [HEAD]
    for claim in CLAIMS:
        parts.append(f"\n## {_title(claim)}\n\n{claim.promise}\n\n```sh\n{claim.command}\n```\n")
        result = figures.get(claim.name)
        if result is None:
            parts.append("\nNot run yet.\n")
        elif "\n" in result.figures:
            parts.append(f"\nOn {result.date}{_verdict(result)}:\n\n```text\n{result.figures}\n```\n")
        else:
            parts.append(f"\nOn {result.date}{_verdict(result)}: {result.figures}.\n")
    return "".join(parts)


def _title(claim: Claim) -> str:
    return claim.name.replace("-", " ").capitalize()


def _verdict(result: Result) -> str:
    return "" if result.is_proved else ", **not proved**"


HEAD: Final = """# Claims

This page lists what the project promises. Under each promise stands the command that proves it, and what that command
found when it was last run. The figures come from the reports of the tests; nobody writes them by hand.

`make claims` runs all of these commands, which takes about an hour on two cores, and writes this page anew.
`make claims OPTIONS="speed determinism"` runs some of them. How the tests work, and what they cannot show, is in
[the notes on the tests](../tests/README.md).
"""


def main() -> int:
    """Run the commands of some claims, or of all, and write the page; return 1 if one was not proved."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [claim.name for claim in CLAIMS]
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"the claims to prove (default: all): {', '.join(names)}"
    )
    wanted = parser.parse_args().names or names
    if unknown := set(wanted) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; expected some of: {', '.join(names)}")
    figures = read_figures()
    for claim in CLAIMS:
        if claim.name in wanted:
            print(f"{claim.name}: {claim.command}", flush=True)
            figures[claim.name] = prove(claim)
            print(f"  {figures[claim.name].figures}", flush=True)
            content = msgspec.json.format(msgspec.json.encode(figures, order="sorted"), indent=1)
            FIGURES.write_bytes(content + b"\n")
            PAGE.write_text(render(figures), encoding="utf-8")
    return 0 if all(figures[name].is_proved for name in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())

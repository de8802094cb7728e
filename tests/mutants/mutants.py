"""Changes the code one place at a time, and lists the changes that no test notices.

`make mutants` tries all of them, a room at a time with the tests of that room; `make
verify` tries a sample. mutmut makes the changes, in undecorated functions, and
`trials.py` runs the tests that call the changed one. What mutmut changes in a message
is left out: any literal text with a space in it. Tests that start processes see the
unchanged code, but for the files that PROCESS_TESTS names (`process_trials.py`).
"""

import argparse
import ast
import itertools
import json
import os
import random
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.mutants.process_trials import noticed_by_processes
from tests.mutants.trials import ChangedFunction, Trials
from tests.support.served import ROOT

PACKAGE: Final = "image_workflow_emulator"
ROOMS: Final = {
    "kernel": ("tests/kernel",),
    "domain": ("tests/domain",),
    "scenario": (
        "tests/scenario_files",
        "tests/playing_scenarios",
        "tests/control",
        "tests/testing",
        "tests/web",
        "tests/cli/test_offline_commands.py",
        "tests/cli/test_settings.py",
        "tests/cli/test_usage.py",
    ),
    "web/checks.py": ("tests/web", "tests/http", "tests/control"),
    "service": (
        "tests/service",
        "tests/web",
        "tests/control",
        "tests/playing_scenarios",
        "tests/testing",
        "tests/examiner",
    ),
}
"""The rooms and files whose code is changed, and the tests that should notice."""
PROCESS_TESTS: Final = {
    "scenario/network_faults.py": "tests/playing_scenarios/test_wire_faults.py",
}
"""The files whose code only a real connection reaches, and the tests that make one."""
RUN_AT_IMPORT: Final = {
    "domain/readings.py: _readings_in_order",
    "service/resources/authoring.py: _handlers",
}
"""Functions that only run while their module is imported: any change comes too late."""
SURVIVORS: Final = Path(__file__).with_name("survivors.json")
"""The changes that no test can notice, each with the reason."""
PYTEST_OPTIONS: Final = (
    "--quiet",
    "--no-summary",
    "-pno:cacheprovider",
    # The package is imported before pytest begins: its own asserts are not rewritten.
    "-Wignore::pytest.PytestAssertRewriteWarning",
)
SEED: Final = 20260101


class Change(NamedTuple):
    """What is changed, and how: the place, and the line before and after."""

    place: str
    """The file and the function: `kernel/clock.py: Clock.now`."""
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.place}\n  - {self.before}\n  + {self.after}"


class Mutant(NamedTuple):
    """A changed function, and what is changed in it."""

    function: ChangedFunction
    change: Change


def mutants_of(file: Path) -> Iterator[Mutant]:
    """Yield the mutants of a file, without those that change only a message."""
    from mutmut.mutation.file_mutation import mutate_file_contents

    changed = mutate_file_contents(str(file), file.read_text(encoding="utf-8"))
    lines = changed.code.splitlines()
    functions = {
        name: lines[span.start - 1 : span.end]
        for name, span in changed.line_span_by_function_name.items()
    }
    module = module_of(file)
    path = file.relative_to(ROOT / "emulator" / PACKAGE).as_posix()
    for name in changed.mutant_names:
        original = f"{name.partition('__mutmut_')[0]}__mutmut_orig"
        function = function_of(name)
        own_name = function.rpartition(".")[2]
        before = [line.replace(original, own_name) for line in functions[original]]
        after = [line.replace(name, own_name) for line in functions[name]]
        removed, added = changed_lines(before, after)
        is_of_text = '"' in removed and '"' in added
        if is_of_text and skeleton(before) == skeleton(after):
            continue
        changed_function = ChangedFunction(
            name=f"{module}.{name}",
            module=module,
            path=tuple(function.split(".")),
            source=textwrap.dedent("\n".join(after)),
        )
        change = Change(f"{path}: {function}", removed, added)
        yield Mutant(changed_function, change)


def module_of(file: Path) -> str:
    """Return the name by which a file is imported."""
    path = file.relative_to(ROOT / "emulator").with_suffix("")
    return ".".join(path.parts).removesuffix(".__init__")


def function_of(name: str) -> str:
    """Return the function that a mutant changes, whose name mutmut has made longer."""
    mangled = name.partition("__mutmut_")[0]
    return mangled.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")


def changed_lines(before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    """Return what is in one function only, and what is in the other only."""
    same_at_start = same_lines(before, after)
    before = before[same_at_start:]
    after = after[same_at_start:]
    same_at_end = same_lines(before[::-1], after[::-1])
    removed = before[: len(before) - same_at_end]
    added = after[: len(after) - same_at_end]
    return joined(removed), joined(added)


def same_lines(first: Sequence[str], second: Sequence[str]) -> int:
    """Count the lines at the beginning that two functions have in common."""
    count = 0
    for line, other in zip(first, second, strict=False):
        if line != other:
            break
        count += 1
    return count


def joined(lines: Iterable[str]) -> str:
    """Write lines of code as one."""
    return " ".join(line.strip() for line in lines)


def skeleton(function: Sequence[str]) -> str:
    """Return the syntax of a function, with every message in it left empty."""
    tree = ast.parse(textwrap.dedent("\n".join(function)))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant):
            continue
        if isinstance(node.value, str) and " " in node.value:
            node.value = ""
    return ast.dump(tree)


def mutants_in(room: str) -> list[Mutant]:
    """Return the mutants of a room, or of a single file."""
    place = ROOT / "emulator" / PACKAGE / room
    files = [place]
    if place.is_dir():
        files = sorted(place.rglob("*.py"))
    mutants: list[Mutant] = []
    for file in files:
        mutants += mutants_of(file)
    return [mutant for mutant in mutants if mutant.change.place not in RUN_AT_IMPORT]


def tests_of(place: str) -> tuple[str, ...]:
    """Return the tests that should notice changes in a room, or in a file of it."""
    for room, tests in ROOMS.items():
        if place == room or place.startswith(f"{room}/"):
            return tests
    raise ValueError(f"{place} is not in {', '.join(ROOMS)}")


def survivors_among(place: str, mutants: Sequence[Mutant]) -> list[Mutant]:
    """Run the tests of a place against mutants, and return what no test noticed."""
    trials = Trials([mutant.function for mutant in mutants])
    status = pytest.main([*PYTEST_OPTIONS, *tests_of(place)], [trials])
    if status or trials.broken_tests:
        sys.exit(f"{place}: the tests fail: {trials.broken_tests}")
    survivors = [mutant for mutant in mutants if trials.survives(mutant.function)]
    return without_noticed_by_processes(survivors)


def without_noticed_by_processes(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return the mutants that the tests of PROCESS_TESTS do not notice either."""
    noticed = set[str]()
    for file, tests in PROCESS_TESTS.items():
        functions = [
            mutant.function
            for mutant in mutants
            if mutant.change.place.startswith(f"{file}:")
        ]
        if functions:
            noticed |= noticed_by_processes(functions, tests)
    return [mutant for mutant in mutants if mutant.function.name not in noticed]


def listed_changes() -> set[Change]:
    """Return the changes that are listed with a reason."""
    entries = json.loads(SURVIVORS.read_text(encoding="utf-8"))
    changes = set()
    for entry in entries:
        change = Change(entry["place"], entry["before"], entry["after"])
        changes.add(change)
    return changes


def mutants_by_place(
    places: Sequence[str],
    sample: int | None,
) -> dict[str, list[Mutant]]:
    """Return all mutants of rooms, or a sample of them, which is always the same."""
    by_place = {place: mutants_in(place) for place in places}
    if sample is None:
        return by_place
    all_mutants = [*itertools.chain.from_iterable(by_place.values())]
    count = min(sample, len(all_mutants))
    drawn = set(random.Random(SEED).sample(all_mutants, count))
    return {
        place: [mutant for mutant in mutants if mutant in drawn]
        for place, mutants in by_place.items()
    }


def main() -> int:
    """Try mutants, print what survived, and return 1 if a survivor is not listed."""
    parser = argparse.ArgumentParser(description=__doc__)
    rooms = ", ".join(ROOMS)
    parser.add_argument(
        "places",
        nargs="*",
        default=[*ROOMS],
        help=f"{rooms}, or files",
    )
    parser.add_argument("--sample", type=int, metavar="COUNT")
    options = parser.parse_args()
    os.chdir(ROOT)  # mutmut reads pyproject.toml when it is imported
    listed = listed_changes()
    unlisted: list[Change] = []
    for place, mutants in mutants_by_place(options.places, options.sample).items():
        survivors = survivors_among(place, mutants)
        print(f"{place}: {len(mutants)} changes, {len(survivors)} survived", flush=True)
        changes = [mutant.change for mutant in survivors]
        unlisted += [change for change in changes if change not in listed]
    print(*unlisted, sep="\n")
    if unlisted:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Changes the code one place at a time, and lists the changes that no test notices.

`make mutants` tries all of them, a room at a time with the tests of that room; `make
verify` tries a sample. mutmut makes the changes, in undecorated functions, and runs the
tests that call the changed one. What it changes in a message is left out: any literal
text with a space in it. Tests that start processes see the unchanged code.
"""

import argparse
import ast
import configparser
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = "image_workflow_emulator"
SOURCE: Final = "src"
"""Where mutmut expects the package: its names of functions begin below this folder."""
ROOMS: Final = {
    "kernel": ("tests/kernel",),
    "domain": ("tests/domain", "tests/service", "tests/web"),
    "service": ("tests/service", "tests/web", "tests/control"),
    "scenario": ("tests/scenario_files", "tests/playing_scenarios"),
    "web/checks.py": ("tests/web", "tests/playing_scenarios"),
}
"""The rooms and files whose code is changed, and the tests that should notice."""
SURVIVORS: Final = Path(__file__).with_name("survivors.json")
"""The changes that no test can notice, each with the reason."""
SEED: Final = 20260101
KILLED: Final = {1, 3, 24, 36, 152, 255, -24}
"""Exit codes of mutmut for a change that a test noticed, by failing or by not ending."""


class Change(NamedTuple):
    """What is changed, and how: the place, and the line before and after."""

    place: str
    """The file and the function: `kernel/clock.py: Clock.now`."""
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.place}\n  - {self.before}\n  + {self.after}"


class Mutant(NamedTuple):
    """A changed function, by its name in mutmut."""

    name: str
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
    module = file.relative_to(ROOT / "emulator").with_suffix("")
    module_name = ".".join(module.parts).removesuffix(".__init__")
    path = file.relative_to(ROOT / "emulator" / PACKAGE).as_posix()
    for name in changed.mutant_names:
        original = f"{name.partition('__mutmut_')[0]}__mutmut_orig"
        function = function_of(name)
        own_name = function.rpartition(".")[2]
        before = [line.replace(original, own_name) for line in functions[original]]
        after = [line.replace(name, own_name) for line in functions[name]]
        removed, added = changed_lines(before, after)
        is_of_text = '"' in removed and '"' in added
        if not (is_of_text and skeleton(before) == skeleton(after)):
            change = Change(f"{path}: {function}", removed, added)
            yield Mutant(f"{module_name}.{name}", change)


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
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = "" if " " in node.value else node.value
    return ast.dump(tree)


def mutants_in(room: str) -> list[Mutant]:
    """Return the mutants of a room, or of a single file."""
    place = ROOT / "emulator" / PACKAGE / room
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    mutants: list[Mutant] = []
    for file in files:
        mutants += mutants_of(file)
    return mutants


def prepare(folder: Path, room: str) -> None:
    """Lay out a copy of the project in which mutmut can work."""
    (folder / SOURCE).symlink_to(ROOT / "emulator")
    (folder / "tests").symlink_to(ROOT / "tests")
    workplace = folder / "mutants"
    workplace.mkdir()
    for path in ROOT.iterdir():
        if path.name not in {"tests", "mutants", ".venv", ".git", "emulator"}:
            (workplace / path.name).symlink_to(path)
    (workplace / "emulator").symlink_to(SOURCE)
    write_settings(folder / "setup.cfg", room)


def write_settings(file: Path, room: str) -> None:
    """Tell mutmut which files of the package it changes, and which tests it runs."""
    pattern = f"{SOURCE}/{PACKAGE}/{room}"
    if not room.endswith(".py"):
        pattern += "/*"
    settings = configparser.ConfigParser()
    settings["mutmut"] = {
        "source_paths": SOURCE,
        "only_mutate": pattern,
        "pytest_add_cli_args_test_selection": "\n".join(ROOMS[room]),
    }
    with file.open("w", encoding="utf-8") as opened:
        settings.write(opened)


def survivors_among(room: str, mutants: Sequence[Mutant]) -> list[Mutant]:
    """Run the tests of a room against mutants, and return those that no test noticed."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        folder = Path(temporary)
        prepare(folder, room)
        run_mutmut(folder, [mutant.name for mutant in mutants])
        exit_codes = exit_codes_in(folder)
    return [mutant for mutant in mutants if exit_codes[mutant.name] not in KILLED]


def run_mutmut(folder: Path, names: Sequence[str]) -> None:
    """Try mutants by their names; end the program with mutmut's output if it fails."""
    mutmut = Path(sys.executable).with_name("mutmut")
    outcome = subprocess.run(
        [mutmut, "run", *names],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if outcome.returncode:
        sys.exit(f"mutmut failed:\n{outcome.stdout[-4000:]}\n{outcome.stderr}")


def exit_codes_in(folder: Path) -> dict[str, int]:
    """Return how the tests of each mutant ended, by its name."""
    exit_codes: dict[str, int] = {}
    for file in folder.glob(f"mutants/{SOURCE}/{PACKAGE}/**/*.meta"):
        content = json.loads(file.read_text("utf-8"))
        exit_codes |= content["exit_code_by_key"]
    return exit_codes


def listed_changes() -> set[Change]:
    """Return the changes that are listed with a reason."""
    entries = json.loads(SURVIVORS.read_text(encoding="utf-8"))
    return {
        Change(entry["place"], entry["before"], entry["after"]) for entry in entries
    }


def mutants_by_room(
    rooms: Sequence[str], sample: int | None
) -> dict[str, list[Mutant]]:
    """Return all mutants of rooms, or a sample of them, which is always the same."""
    by_room = {room: mutants_in(room) for room in rooms}
    if sample is None:
        return by_room
    mutants = [*itertools.chain.from_iterable(by_room.values())]
    drawn = set(random.Random(SEED).sample(mutants, min(sample, len(mutants))))
    return {
        room: [mutant for mutant in mutants if mutant in drawn]
        for room, mutants in by_room.items()
    }


def main() -> int:
    """Try mutants, print what survived, and return 1 if a survivor is not listed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", default=[*ROOMS], help=", ".join(ROOMS))
    parser.add_argument("--sample", type=int, metavar="COUNT")
    options = parser.parse_args()
    if not ROOMS.keys() >= {*options.rooms}:
        parser.error(f"the rooms are {', '.join(ROOMS)}")
    os.chdir(ROOT)  # mutmut reads pyproject.toml when it is imported
    listed = listed_changes()
    unlisted: list[Change] = []
    for room, mutants in mutants_by_room(options.rooms, options.sample).items():
        survivors = survivors_among(room, mutants)
        print(f"{room}: {len(mutants)} changes, {len(survivors)} survived", flush=True)
        changes = [mutant.change for mutant in survivors]
        unlisted += [change for change in changes if change not in listed]
    print(*unlisted, sep="\n")
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main())

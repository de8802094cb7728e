"""Checks prose: words that have a plainer form, and names of files and code that are gone.

`make check` runs it. Reads docstrings, comments and messages of Python files, comments
and texts of the page, and the Markdown of the repository. Needs nothing but Python.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
PLAINER: Final = {
    r"\bunmet\b|\b(?:was|were|is|are|been|not) met\b": "covered",
    r"\buntold\b": "undetermined",
    r"\bstr(?:ike|ikes|uck|iking)\b": "inject, or: fail",
    r"\bstray(?:s|ed)?\b": "unrouted",
    r"\b(?:stands|stood) (?:on|under|at|beside|here|there|above|below)\b": "is",
    r"\b(?:stands|stood) wherever\b": "is",
    r"\bunfit\b": "invalid",
    r"\ba look at\b|\bthe look (?:at|that|for)\b": "check",
    r"\bcan be had\b|\bfor the asking\b": "can be requested",
    r"\b(?:come|comes|came) about\b": "happen",
    r"\bwho listens\b|\bwhoever\b": "a noun that says who",
    r"\bhas to stand\b": "must accept",
    r"\bdoes not hear of\b": "is not informed of",
    r"\bso many (?:times|requests|milliseconds|seconds|bytes|characters|pixels)\b": (
        "the number, or its name"
    ),
    r"expected a wait|expected none: |found one whose": (
        "the state, without 'found' and 'expected'"
    ),
}
"""What must not come back, and what to write instead."""
HOUSE_NAMES: Final = {
    "unfit": "invalid",
    "one_of": "a name of what is chosen",
    "look_again": "refresh",
    "let_go": "release",
    "take_in": "accept",
    "until_gone": "wait_for_close",
    "strike_with": "inject",
    "make_sound": "rebuild",
    "strayed": "unrouted",
    "has_come_about": "mark_fired",
}
"""Names of code that have a usual one."""
NO_NOUN: Final = re.compile(
    r"(?:By (?:what|which|the|its|each|a|an)\b.*?: |Of (?:a|an|the|what|each|which)\b)"
)
"""How a docstring must not begin: `By X: ...`, `Of a ...`."""
PATH: Final = re.compile(
    r"[\w./-]*/[\w.-]+\.(?:py|md|ya?ml|js|mjs|ts|json|toml|lock|go|java)"
    r"|[\w-]+\.(?:py|toml|lock)"
)
NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
SPAN: Final = re.compile(r"`([^`\n]+)`")
NOTES: Final = (
    "emulator/README.md",
    "emulator/where-things-belong.md",
    "tests/README.md",
)
PROGRAMS: Final = {"nohup", "sha256sum"}
"""Programs of other people that are named in backticks."""
FOLDERS: Final = ("", "emulator", "emulator/image_workflow_emulator", "tests")


class Text(NamedTuple):
    """A piece of prose with its file and first line.

    Its kind is `docstring`, `comment`, `message`, `name` or `page`.
    """

    file: str
    line: int
    kind: str
    text: str


def tracked(*patterns: str) -> list[str]:
    """Return the paths of the files that git sees, or without git, of all files."""
    listed = subprocess.run(
        ["git", "ls-files", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if not listed.returncode and listed.stdout:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    skipped = {".venv", "node_modules", "_shipped", ".git", "dist"}
    files: set[str] = set()
    for pattern in patterns:
        paths = [file for file in ROOT.rglob(pattern) if not skipped & {*file.parts}]
        files.update(path.relative_to(ROOT).as_posix() for path in paths)
    return sorted(files)


def texts_of(file: str) -> Iterator[Text]:
    """Yield the prose of a file."""
    source = (ROOT / file).read_text(encoding="utf-8")
    if file.endswith(".py"):
        yield from _of_python(file, source)
    elif file.endswith(".js"):
        for number, line in enumerate(source.splitlines(), 1):
            if comment := re.search(r"(?:^|\s)//(.*)|^\s*/?\*+(.*)", line):
                yield Text(file, number, "comment", comment[1] or comment[2] or "")
    else:
        blank = re.sub(
            r"(?ms)^```.*?^```",
            lambda block: "\n" * block[0].count("\n"),
            source,
        )
        for number, line in enumerate(blank.splitlines(), 1):
            yield Text(file, number, "page", line)


def _of_python(file: str, source: str) -> Iterator[Text]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield Text(file, token.start[0], "comment", token.string.lstrip("# "))
        if token.type == tokenize.NAME and token.string in HOUSE_NAMES:
            yield Text(file, token.start[0], "name", token.string)
    tree = ast.parse(source)
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in docstrings:
                yield Text(file, node.lineno, "docstring", node.value)
            elif " " in node.value:
                yield Text(file, node.lineno, "message", node.value)


@cache
def _all_files() -> list[str]:
    return tracked("*")


@cache
def names() -> frozenset[str]:
    """Return every word of code, of the contract and of the scenarios: what a name in backticks may be."""
    words: set[str] = set()
    for file in tracked(
        "*.py",
        "*.js",
        "*.ts",
        "*.yaml",
        "*.json",
        "*.toml",
        "*.java",
        "*.go",
        "*.mjs",
        "Makefile",
        "*.html",
    ):
        text = (ROOT / file).read_text(encoding="utf-8")
        if file.endswith(".py"):  # a name in a docstring proves nothing of itself
            text = re.sub(r"(?s)`[^`\n]+`|#[^\n]*", " ", text)
        words.update(re.findall(r"\w+", text))
    words.update(re.split(r"[/.]", "/".join(_all_files())))
    return frozenset(words)


def complaints_about(text: Text) -> Iterator[tuple[int, str]]:
    """Yield the line and what is wrong there, for each mistake of a piece of prose."""
    is_test = text.file.startswith("tests/")
    if text.kind == "name":
        yield text.line, f"{text.text}: write {HOUSE_NAMES[text.text]}"
    elif not (is_test and text.kind == "message"):
        prose = SPAN.sub(lambda span: " " * len(span[0]), text.text)
        for pattern, plainer in PLAINER.items():
            for found in re.finditer(pattern, prose, re.IGNORECASE):
                yield (
                    text.line + text.text.count("\n", 0, found.start()),
                    f"{found[0]!r}: write {plainer}",
                )
    if text.kind == "docstring" and (opening := NO_NOUN.match(text.text)):
        yield (
            text.line,
            f"a docstring begins with a noun or a verb, not with {opening[0]!r}",
        )
    if text.kind in ("docstring", "comment") or text.file in NOTES:
        for span in SPAN.finditer(text.text):
            if gone := _is_gone(span[1], text.file):
                yield (
                    text.line + text.text.count("\n", 0, span.start()),
                    f"`{span[1]}`: there is no such {gone}",
                )


def _is_gone(span: str, file: str) -> str:
    """Return the kind of thing that a text in backticks names and that is not there; nothing if it is."""
    if PATH.fullmatch(span):
        beside = (ROOT / file).parent / span
        places = [beside, *(ROOT / folder / span for folder in FOLDERS)]
        is_there = any(place.exists() for place in places) or any(
            path.endswith(f"/{span}") for path in _all_files()
        )
        return "" if is_there else "file"
    if NAME.fullmatch(span) and len(span) > 2 and span not in PROGRAMS:
        words = span.removesuffix("()").split(".")
        return "" if names().issuperset(words) else "name"
    return ""


def complaints() -> Iterator[str]:
    """Yield each complaint with its file and line."""
    for file in tracked("*.py", "*.md", "emulator/*.js"):
        if file.startswith(("changes/", "CHANGELOG")) and file != "changes/README.md":
            continue
        if file == ".ci/check_words.py" or "/preact" in file:
            continue
        for text in texts_of(file):
            for number, words in complaints_about(text):
                yield f"{file}:{number}: {words}"


def main() -> int:
    """Print the complaints, and return 1 if there are any."""
    found = sorted(set(complaints()))
    print("\n".join(found) or "The words are plain.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

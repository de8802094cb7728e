"""The page's own files: their style, what they load and may do in a browser.

They need no token and hold no data.
"""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.control import page_files
from tests.clients.generated import run
from tests.support.emulator_under_test import EmulatorUnderTest

FOLDER = Path(page_files.__file__).with_name("page")
DOCUMENTS = {"": "index.html", "/reference": "reference.html"}
FILES = sorted(
    file.name for file in FOLDER.iterdir() if file.suffix not in (".html", ".json")
)
VENDORED = json.loads((FOLDER / "vendored.json").read_text(encoding="utf-8"))
VENDORED_FILES: set[str] = set()
for component in VENDORED:
    VENDORED_FILES.update(file["name"] for file in component["components"])
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REFERENCE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@pytest.mark.parametrize("path", [*DOCUMENTS, *(f"/page/{name}" for name in FILES)])
def test_every_file_is_served_under_a_strict_policy(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    answer = emulator.ask("GET", path)

    assert answer.status == 200
    policy = REFERENCE_POLICY if path == "/reference" else POLICY
    assert answer.headers["content-security-policy"] == policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert (
        answer.body
        == (FOLDER / DOCUMENTS.get(path, path.rpartition("/")[2])).read_bytes()
    )
    if path in DOCUMENTS:  # the policy allows no script or style inline
        text = answer.body.decode()
        assert not re.search(
            r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:",
            text,
        )
        assert re.search(
            r'<link rel="icon" [^>]*href="(_emulator/)?page/icon.svg"',
            text,
        )


@pytest.mark.parametrize(
    "name",
    [
        "nothing.js",
        "index.html",
        "..",
        "../page.py",
        "..%2fpage.py",
        "page.py",
        "icon.svg%00",
    ],
)
def test_nothing_but_the_pages_files_is_served(
    emulator: EmulatorUnderTest,
    name: str,
) -> None:
    answer = emulator.ask("GET", f"/page/{name}")

    assert answer.status == 404
    assert answer.code == "not_found"


def digest_of(name: str) -> str:
    content = (FOLDER / name).read_bytes()
    return sha256(content).hexdigest()


@pytest.mark.parametrize("component", VENDORED, ids=lambda component: component["name"])
def test_vendored_files_are_those_whose_digests_are_listed(component: Any) -> None:
    for file in component["components"]:
        (listed,) = file["hashes"]
        assert digest_of(file["name"]) == listed["content"]


@pytest.mark.parametrize(
    ("name", "origin"),
    [("preact.txt", "htm 3.1.1"), ("swagger-ui.txt", "swagger-ui-dist 5.35.0")],
)
def test_origin_digest_and_licence_lie_beside_vendored_files(
    name: str,
    origin: str,
) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")

    assert origin in text
    assert "SHA-256" in text
    assert re.search("Apache License|MIT License", text)


def test_the_licence_beside_swagger_ui_has_the_digests_of_its_files() -> None:
    text = (FOLDER / "swagger-ui.txt").read_text(encoding="utf-8")
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        line = f"{digest_of(name)}  {name}"
        assert line in text
    assert "SmartBear Software" in text


def test_the_digest_of_the_vendored_script_stands_beside_it() -> None:
    _, _, content = (FOLDER / "preact.js").read_bytes().partition(b"\n")
    text = (FOLDER / "preact.txt").read_text(encoding="utf-8")

    digest = sha256(content).hexdigest()

    assert digest in text


OWN = [
    file.name
    for file in FOLDER.iterdir()
    if file.suffix in (".js", ".css", ".html", ".svg")
    and file.name not in VENDORED_FILES
]


LOADING = (
    r'(?:src|href)="(?:_emulator/)?page/([^"]+)"',
    r'from "\./([^"]+)"',
    r'import\("\./([^"]+)"\)',
)
"""How a file names another that it loads."""
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
"""Addresses that nothing is loaded from."""


@pytest.mark.parametrize("name", OWN)
def test_what_a_file_loads_is_there_and_nowhere_else(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")

    addresses = set(re.findall(r"https?://[^\s\"'`<]+", text))
    assert addresses <= NAMESPACES
    for pattern in LOADING:
        loaded = set(re.findall(pattern, text))
        assert loaded <= set(FILES), pattern


def modules_of(name: str) -> set[str]:
    """The modules that one loads, its own name included."""
    modules: set[str] = set()
    waiting = [name]
    while waiting:
        module = waiting.pop()
        if module in modules:
            continue
        modules.add(module)
        text = (FOLDER / module).read_text(encoding="utf-8")
        waiting += re.findall(r'(?:from|import) "\./([^"]+)"', text)
    return modules


def test_every_module_of_the_page_is_loaded_ahead() -> None:
    text = (FOLDER / "index.html").read_text(encoding="utf-8")
    ahead = re.findall(
        r'<link rel="modulepreload" href="_emulator/page/([^"]+)">',
        text,
    )

    loaded = sorted(modules_of("main.js"))
    assert sorted([*ahead, "main.js"]) == loaded


def test_no_module_leads_back_to_itself() -> None:
    for file in FOLDER.glob("*.js"):
        imported = re.findall(r'from "\./([^"]+)"', file.read_text(encoding="utf-8"))
        for name in set(imported) - VENDORED_FILES:
            assert file.name not in modules_of(name), f"{file.name} and {name}"


@pytest.mark.emulator(control_token="control-secret")
def test_the_files_need_no_control_token_and_say_that_data_does(
    emulator: EmulatorUnderTest,
) -> None:
    for path in (*DOCUMENTS, "/page/main.js"):
        assert emulator.ask("GET", path).status == 200
    assert b"<html data-needs-token " in emulator.ask("GET", "").body
    assert emulator.ask("GET", "/teams").status == 401


@pytest.mark.verify
@pytest.mark.parametrize(
    "command",
    [
        ["tsc", "--project", "tsconfig.json"],
        ["biome", "check", "--error-on-warnings", "page"],
    ],
    ids=["types", "style"],
)
def test_the_pages_files_pass(node: Path, command: list[str]) -> None:
    run([node / "node_modules" / ".bin" / command[0], *command[1:]], node)

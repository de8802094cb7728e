"""The page's own files: their style, what they load and may do in a browser; they need no token and hold no data."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

from image_workflow_emulator.control.page_files import FOLDER
from image_workflow_emulator.documents.shipped import shipped_document
from tests.clients.generated import run
from tests.support.emulator_client import EmulatorUnderTest

DOCUMENTS = {"": "index.html", "/reference": "reference.html"}
FILES = sorted(file.name for file in FOLDER.iterdir() if file.suffix != ".html")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@pytest.mark.parametrize("path", [*DOCUMENTS, *(f"/page/{name}" for name in FILES)])
def test_every_file_is_served_under_a_strict_policy(
    emulator: EmulatorUnderTest, path: str
) -> None:
    answer = emulator.ask("GET", path)
    assert answer.status == 200
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    if path != "/reference":  # is filled with the contract
        assert (
            answer.body
            == (FOLDER / DOCUMENTS.get(path, path.rpartition("/")[2])).read_bytes()
        )
    if path in DOCUMENTS:  # the policy allows no script or style inline
        text = answer.body.decode()
        assert not re.search(
            r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:", text
        )
        assert re.search(
            r'<link rel="icon" [^>]*href="(_emulator/)?page/icon.svg"', text
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
    emulator: EmulatorUnderTest, name: str
) -> None:
    assert emulator.ask("GET", f"/page/{name}").outcome == (404, "not_found")


def test_the_reference_holds_every_part_of_the_contract_without_a_script(
    emulator: EmulatorUnderTest,
) -> None:
    text = emulator.ask("GET", "/reference").body.decode()
    parts = set(re.findall(r'<article class="operation-part" id="([^"]+)"', text))
    document = emulator.told("GET", "/contract.json")
    operations = [
        one["operationId"]
        for path in document["paths"].values()
        for key, one in path.items()
        if key != "parameters"
    ]
    assert parts > set(operations)
    assert parts > set(document["components"]["schemas"]["ProblemCode"]["enum"])
    assert parts > {
        decision["id"]
        for decision in shipped_document("contract/decisions.yaml")["decisions"]
    }
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert links - parts == set()
    assert text.count("<form ") == len(operations)


def test_the_vendored_script_is_the_one_whose_digest_stands_beside_it() -> None:
    _, _, content = (FOLDER / "preact.js").read_bytes().partition(b"\n")
    assert sha256(content).hexdigest() in (FOLDER / "preact.txt").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    "name",
    [file.name for file in FOLDER.iterdir() if file.suffix not in (".png", ".txt")],
)
def test_what_a_file_loads_is_there_and_nowhere_else(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    loaded = re.findall(
        r'(?:src|href)="(?:_emulator/)?page/([^"]+)"|from "\./([^"]+)"|import\("\./([^"]+)"\)',
        text,
    )
    assert {part for parts in loaded for part in parts if part} <= set(FILES)
    elsewhere = re.findall(r"https?://[^\s\"'`<]+", text)
    assert set(elsewhere) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


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

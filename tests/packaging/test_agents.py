"""Texts for programs: `llms.txt`, the skill, and the documentation that a running emulator serves."""

import re
import shutil
from os.path import normpath
from pathlib import Path, PurePosixPath

import pytest

from tests.cli.command import request_bytes
from tests.packaging.pages import fences, path_with_program
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.served import ROOT, run_program, serving

LLMS = ROOT / "llms.txt"
SKILL = ROOT / "skills/image-workflow-emulator/SKILL.md"
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


def test_every_link_of_the_list_for_programs_leads_to_a_file_and_every_page_is_there() -> None:
    links = {ROOT / link for link in LINK.findall(LLMS.read_text())}
    assert [] == [link for link in links if not link.is_file()]
    assert set(PAGES) <= links


def test_a_running_emulator_has_the_list_with_addresses_that_answer(emulator: EmulatorUnderTest) -> None:
    answer = emulator.ask("GET", "/llms.txt")
    links = LINK.findall(answer.body.decode())
    assert len(links) == len(LINK.findall(LLMS.read_text()))
    assert {200} == {emulator.ask("GET", link.partition("/_emulator")[2]).status for link in links}


def test_a_running_emulator_has_every_page_as_markdown_with_links_that_stay_there(emulator: EmulatorUnderTest) -> None:
    index = emulator.ask("GET", "/docs")
    listed = [*LINK.findall(index.body.decode()), "README.md"]
    assert sorted([*(page.relative_to(ROOT / "docs").as_posix() for page in PAGES), "SKILL.md"]) == sorted(listed), (
        "the index names each page once"
    )
    for name in listed:
        page = emulator.ask("GET", f"/docs/{name}")
        assert page.headers["content-type"].startswith("text/markdown")
        inner = [link for link in LINK.findall(page.body.decode()) if not re.match(r"\w+:|/", link)]
        assert [] == [link for link in inner if normpath(PurePosixPath(name).parent / link) not in listed], name


@pytest.mark.parametrize("path", ["/docs/no.md", "/docs/../README.md", "/docs/%2Fetc%2Fpasswd", "/docs/page.png"])
def test_nothing_but_pages_is_served(emulator: EmulatorUnderTest, path: str) -> None:
    assert emulator.ask("GET", path).status == 404


def test_the_skill_is_short_and_says_when_to_use_it() -> None:
    text = SKILL.read_text()
    assert len(text.splitlines()) <= 200
    assert re.match(r"---\nname: image-workflow-emulator\ndescription: .{50,1000}\n---\n", text)


@pytest.mark.skipif(not shutil.which("bash"), reason="the commands are for bash")
def test_the_commands_of_the_skill_run(tmp_path: Path) -> None:
    script = "\n".join(text for _, text in fences(SKILL, "bash"))
    path = path_with_program(tmp_path)
    with serving("--clock", "auto") as server:
        server.converse(request_bytes("GET /v1/team", ends=True))
        outcome = run_program(
            "bash", "-eu", "-o", "pipefail", folder=tmp_path, given=script, PATH=path, EMULATOR_URL=server.url
        )
    assert outcome.status == 0, outcome.output + outcome.complaint

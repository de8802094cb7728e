"""The documentation says everything there is, and nothing else: options, commands, routes, words, names, codes.

What is taught elsewhere is named there: the contract for the operations, the schema for the exact form of scenario
files. And the texts for programs: `llms.txt`, the skill, and the documentation that a running emulator serves.
"""

import json
import re
import shutil
from os.path import normpath
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from derived_documents import DOCUMENTS as DERIVED
from derived_documents import contract_changes

from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.scenario.world import built_in_world, world_names, world_of
from image_workflow_emulator.settings import OPTIONS
from tests.cli.command import request_bytes
from tests.packaging.pages import DOCUMENTATION, fences, path_with_program
from tests.support.commands import command_names
from tests.support.contract_check import read_contract
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.every_operation import CONTRACT
from tests.support.served import ROOT, run_bash, serving

MANUAL = DOCUMENTATION[1:]
PAGES = {path: path.read_text(encoding="utf-8") for path in DOCUMENTATION}
CODE = re.compile(r"`([^`]+)`")
MAX_CELL_CHARACTERS = 150
"""The characters of a cell that can be read at a glance, ids of operations included."""


def page(title: str) -> str:
    """A page of the documentation, by its title."""
    return next(text for text in PAGES.values() if text.startswith(f"# {title}\n"))


def rows(text: str) -> list[list[str]]:
    """The cells of every table in a text, without headings."""
    lines = re.findall(r"^\|(.*)\|$", text, re.MULTILINE)
    table = [
        [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
        for line in lines
    ]
    rules = [number for number, cells in enumerate(table) if set(cells[0]) == {"-"}]
    return [
        cells
        for number, cells in enumerate(table)
        if number not in rules and number + 1 not in rules
    ]


SHOWN = [
    text
    for path in DOCUMENTATION
    for _, text in fences(path, "yaml")
    if not text.startswith("given:")
]
"""The scenarios and the worlds that the documentation shows; tests/control/test_given.py has what it seeds."""


def test_every_option_is_in_the_table_with_its_variable_and_default() -> None:
    expected = {
        f"`{one.flag} {one.kind.placeholder}`": (f"`{one.variable}`", one.default)
        for one in OPTIONS
    }
    found = {
        row[0]: (row[1], row[2])
        for row in rows(page("Commands and options"))
        if row[0].startswith("`--")
    }

    assert expected == found


def test_every_command_is_in_the_table() -> None:
    spans = [
        span
        for row in rows(page("Commands and options"))
        for span in CODE.findall(row[0])
    ]
    leading = (
        re.match(r"[a-z]+(?: [a-z]+)?\b(?!-)", span.replace("[", "").replace("]", ""))
        for span in spans
    )
    documented = {match[0].strip() for match in leading if match}

    assert {*command_names(), "completion"} == documented


ROUTES = {
    **read_contract("control-plane.yaml")["paths"],
    "": ["get"],
    "/reference": ["get"],
    "/page/{file}": ["get"],
}
REQUESTS = {
    f"{name.upper()} {PREFIX}{path}"
    for path, item in ROUTES.items()
    for name in item
    if name != "servers"
}


def test_every_route_of_the_control_plane_is_in_the_tables() -> None:
    documented = [
        f"{row[0].partition(' ')[0]} {CODE.findall(row[0])[0]}"
        for row in rows(page("The control plane"))
    ]

    assert sorted(REQUESTS) == sorted(documented)


def schema_words() -> set[str]:
    """Every key that a scenario file may have, and every word but those of the contract, by its published schema."""
    schema = json.loads(
        (ROOT / "contract/scenario.schema.json").read_text(encoding="utf-8")
    )
    words: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            properties = node.get("properties")
            words.update(properties if isinstance(properties, dict) else ())
            words.update(
                word
                for word in node.get("enum", ())
                if isinstance(word, str) and "." not in word
            )
        for inner in (
            node.values()
            if isinstance(node, dict)
            else node
            if isinstance(node, list)
            else ()
        ):
            walk(inner)

    for name in ("operation", "code", "work"):
        del schema["$defs"][name]["enum"]
    walk(schema)
    return words


@pytest.mark.parametrize("word", sorted(schema_words()))
def test_a_word_of_scenario_files_is_explained_or_shown(word: str) -> None:
    # The words of its `world` are those of a world file.
    where = page("Scenarios: failures on demand") + page("Control it")

    assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", where)


def test_the_contract_has_the_prices_and_codes_of_the_code() -> None:
    assert contract_changes(read_contract("openapi.yaml")) == [], "run: make contract"


@pytest.mark.parametrize("path", DERIVED, ids=lambda path: path.name)
def test_what_repeats_the_contract_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == DERIVED[path](
        read_contract("openapi.yaml")
    ), "run: make contract"


LIBRARY = rows(
    page("Scenarios: failures on demand").partition("| To see | Scenario |")[2]
)


def test_the_table_of_the_library_names_every_scenario_once() -> None:
    names = [name for row in LIBRARY for name in CODE.findall(row[1])]

    assert sorted(file.stem for file in (ROOT / "scenarios").glob("*.yaml")) == sorted(
        names
    )


@pytest.mark.parametrize("text", SHOWN)
def test_a_scenario_or_world_that_is_shown_can_be_used(text: str) -> None:
    if text.startswith("scenario:"):
        assert parse_scenario(
            text, "README.md", CONTRACT, world_names(built_in_world())
        ).rules
    else:
        assert (
            world_of(read_document(text, "README.md")).teams != built_in_world().teams
        )


def anchors(document: Path) -> set[str]:
    """The names under which the headings of a document can be linked to."""
    headings = re.findall(
        r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


OTHERS = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    ".github/CODE_OF_CONDUCT.md",
    ".github/RELEASING.md",
    ".github/SECURITY.md",
    "changes/README.md",
    "emulator/README.md",
    "emulator/where-things-belong.md",
    "examples/README.md",
    "examples/course/README.md",
    "tests/README.md",
]
DOCUMENTS = [
    *(str(path.relative_to(ROOT)) for path in PAGES),
    *OTHERS,
    "skills/image-workflow-emulator/SKILL.md",
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    file = ROOT / document
    for target in re.findall(r"\]\(([^)]+)\)", file.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        path, _, place = target.partition("#")
        found = file.parent / path if path else file
        assert found.exists(), target
        assert not place or place in anchors(found), target


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_table_has_nothing_but_short_facts(document: str) -> None:
    cells = [
        cell
        for row in rows((ROOT / document).read_text(encoding="utf-8"))
        for cell in row
    ]

    assert [] == [cell for cell in cells if len(cell) > MAX_CELL_CHARACTERS], (
        "write a list instead"
    )


LLMS = ROOT / "llms.txt"
SKILL = ROOT / "skills/image-workflow-emulator/SKILL.md"
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


def test_every_link_of_the_list_for_programs_leads_to_a_file_and_every_page_is_there() -> (
    None
):
    links = {ROOT / link for link in LINK.findall(LLMS.read_text())}

    assert [] == [link for link in links if not link.is_file()]
    assert set(MANUAL) <= links


def test_a_running_emulator_has_the_list_with_addresses_that_answer(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.ask("GET", "/llms.txt")
    links = LINK.findall(answer.body.decode())

    assert len(links) == len(LINK.findall(LLMS.read_text()))
    assert {200} == {
        emulator.ask("GET", link.partition("/_emulator")[2]).status for link in links
    }


def test_a_running_emulator_has_every_page_as_markdown_with_links_that_stay_there(
    emulator: EmulatorUnderTest,
) -> None:
    index = emulator.ask("GET", "/docs")
    listed = [*LINK.findall(index.body.decode()), "README.md"]

    assert sorted(
        [*(page.relative_to(ROOT / "docs").as_posix() for page in MANUAL), "SKILL.md"]
    ) == sorted(listed), "the index names each page once"
    for name in listed:
        page = emulator.ask("GET", f"/docs/{name}")
        assert page.headers["content-type"].startswith("text/markdown")
        inner = [
            link
            for link in LINK.findall(page.body.decode())
            if not re.match(r"\w+:|/", link)
        ]
        assert [] == [
            link
            for link in inner
            if normpath(PurePosixPath(name).parent / link) not in listed
        ], name


@pytest.mark.parametrize(
    "path",
    ["/docs/no.md", "/docs/../README.md", "/docs/%2Fetc%2Fpasswd", "/docs/page.png"],
)
def test_nothing_but_pages_is_served(emulator: EmulatorUnderTest, path: str) -> None:
    assert emulator.ask("GET", path).status == 404


def test_the_skill_is_short_and_says_when_to_use_it() -> None:
    text = SKILL.read_text()

    assert len(text.splitlines()) <= 200
    assert re.match(
        r"---\nname: image-workflow-emulator\ndescription: .{50,1000}\n---\n", text
    )


@pytest.mark.skipif(not shutil.which("bash"), reason="the commands are for bash")
def test_the_commands_of_the_skill_run(tmp_path: Path) -> None:
    script = "\n".join(text for _, text in fences(SKILL, "bash"))
    path = path_with_program(tmp_path)
    with serving("--clock", "auto") as server:
        server.converse(request_bytes("GET /v1/team", ends=True))
        outcome = run_bash(
            script,
            tmp_path,
            PATH=path,
            EMULATOR_URL=server.url,
        )

    assert outcome.status == 0, outcome.output + outcome.complaint

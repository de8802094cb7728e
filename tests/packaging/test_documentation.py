"""The documentation says everything there is, and nothing else.

Options, commands, routes, words, names, codes. What is taught elsewhere is named there:
the contract for the operations, the schema for the exact form of scenario files. And
the texts for programs: `llms.txt`, the skill, and the documentation that a running
emulator serves.
"""

import json
import re
import shutil
from collections.abc import Iterator
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
from tests.packaging.pages import DOCUMENTATION, fences, path_with_program, text_of
from tests.support.commands import command_names
from tests.support.contract_check import read_contract
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import CONTRACT
from tests.support.served import ROOT, run_bash, serving

MANUAL = DOCUMENTATION[1:]
PAGES = {path: text_of(path) for path in DOCUMENTATION}
CODE = re.compile(r"`([^`]+)`")
ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINKED = re.compile(r"\]\(([^)]+)\)")
MAX_CELL_CHARACTERS = 150
"""The characters of a cell that can be read at a glance, ids of operations included."""


def page(title: str) -> str:
    """A page of the documentation, by its title."""
    (text,) = [text for text in PAGES.values() if text.startswith(f"# {title}\n")]
    return text


def cells_of(line: str) -> list[str]:
    """The cells of a row, in which a line within a cell is written with a backslash."""
    cells = re.split(r"(?<!\\)\|", line)
    return [cell.strip().replace("\\|", "|") for cell in cells]


def rows(text: str) -> list[list[str]]:
    """The cells of every table in a text, without headings."""
    body: list[list[str]] = []
    for line in ROW.findall(text):
        cells = cells_of(line)
        is_rule = set(cells[0]) == {"-"}
        if is_rule:
            body.pop()  # the heading above it
        else:
            body.append(cells)
    return body


SHOWN: list[str] = []
for path in DOCUMENTATION:
    files = [block.text for block in fences(path, "yaml")]
    SHOWN += [text for text in files if not text.startswith("given:")]
"""The scenarios and the worlds that the documentation shows.

What it seeds is in tests/cli/test_given.py.
"""


def test_every_option_is_in_the_table_with_its_variable_and_default() -> None:
    expected = {}
    for option in OPTIONS:
        typed = f"`{option.flag} {option.kind.placeholder}`"
        variable = f"`{option.variable}`"
        expected[typed] = [variable, option.default]

    documented = {}
    for option_cell, *cells in rows(page("Commands and options")):
        if option_cell.startswith("`--"):
            documented[option_cell] = cells[:2]

    assert documented == expected


COMMAND = re.compile(r"[a-z]+(?: [a-z]+)?\b(?!-)")


def test_every_command_is_in_the_table() -> None:
    documented = set()
    for first_cell, *_ in rows(page("Commands and options")):
        for span in CODE.findall(first_cell):
            words = re.sub(r"[\[\]]", "", span)
            command = COMMAND.match(words)
            if command:
                documented.add(command[0].strip())

    assert documented == {*command_names(), "completion"}


ROUTES = {
    **read_contract("control-plane.yaml")["paths"],
    "": ["get"],
    "/reference": ["get"],
    "/page/{file}": ["get"],
}


def control_requests() -> list[str]:
    """Every request of the control plane, as the tables write it."""
    requests = []
    for path, item in ROUTES.items():
        methods = [name.upper() for name in item if name != "servers"]
        requests += [f"{method} {PREFIX}{path}" for method in methods]
    return requests


def test_every_route_of_the_control_plane_is_in_the_tables() -> None:
    documented = []
    for cell, *_ in rows(page("The control plane")):
        method = cell.split()[0]
        path = CODE.findall(cell)[0]
        documented.append(f"{method} {path}")

    requests = control_requests()
    assert sorted(documented) == sorted(requests)


def schema_words() -> set[str]:
    """Every key that a scenario file may have, and every word of its values.

    By its published schema, and without the words of the contract.
    """
    file = ROOT / "contract/scenario.schema.json"
    schema = json.loads(text_of(file))
    for name in ("operation", "code", "work"):
        del schema["$defs"][name]["enum"]
    return set(words_in(schema))


def words_in(node: Any) -> Iterator[str]:
    """The names of fields and the words that a part of a schema allows."""
    if isinstance(node, list):
        for item in node:
            yield from words_in(item)
    elif isinstance(node, dict):
        properties = node.get("properties")
        if isinstance(properties, dict):
            yield from properties
        for word in node.get("enum", ()):
            if isinstance(word, str) and "." not in word:
                yield word
        yield from words_in(list(node.values()))


@pytest.mark.parametrize("word", sorted(schema_words()))
def test_a_word_of_scenario_files_is_explained_or_shown(word: str) -> None:
    # The words of its `world` are those of a world file.
    where = page("Scenarios: failures on demand") + page("Control it")

    whole_word = rf"(?<![\w-]){re.escape(word)}(?![\w-])"
    assert re.search(whole_word, where)


def test_the_contract_has_the_prices_and_codes_of_the_code() -> None:
    contract = read_contract("openapi.yaml")

    changes = contract_changes(contract)

    assert changes == [], "run: make contract"


@pytest.mark.parametrize("path", DERIVED, ids=lambda path: path.name)
def test_what_repeats_the_contract_is_up_to_date(path: Path) -> None:
    derive = DERIVED[path]
    derived = derive(read_contract("openapi.yaml"))

    text = text_of(path)

    assert text == derived, "run: make contract"


HEAD_OF_LIBRARY = "| To see | Scenario |"


def test_the_table_of_the_library_names_every_scenario_once() -> None:
    text = page("Scenarios: failures on demand")
    _, _, library = text.partition(HEAD_OF_LIBRARY)
    documented = []
    for _, scenarios, *_ in rows(HEAD_OF_LIBRARY + library):
        documented += CODE.findall(scenarios)

    files = (ROOT / "scenarios").glob("*.yaml")
    names = [file.stem for file in files]
    assert sorted(documented) == sorted(names)


SCENARIOS = [text for text in SHOWN if text.startswith("scenario:")]
WORLDS = [text for text in SHOWN if text not in SCENARIOS]


@pytest.mark.parametrize("text", SCENARIOS)
def test_a_scenario_that_is_shown_can_be_used(text: str) -> None:
    names = world_names(built_in_world())

    scenario = parse_scenario(text, "README.md", CONTRACT, names)

    assert scenario.rules


@pytest.mark.parametrize("text", WORLDS)
def test_a_world_that_is_shown_can_be_used(text: str) -> None:
    world = world_of(read_document(text, "README.md"))

    assert world.teams != built_in_world().teams


def anchors(document: Path) -> set[str]:
    """The names under which the headings of a document can be linked to."""
    names: set[str] = set()
    for heading in HEADING.findall(text_of(document)):
        words = re.sub(r"[^\w -]", "", heading.lower())
        names.add(words.replace(" ", "-"))
    return names


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
    "skills/image-workflow-emulator/SKILL.md",
    "tests/README.md",
]
DOCUMENTS = [str(path.relative_to(ROOT)) for path in PAGES]
DOCUMENTS += OTHERS


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    file = ROOT / document
    for target in LINKED.findall(text_of(file)):
        if target.startswith("https://"):
            continue
        path, _, place = target.partition("#")
        linked = file
        if path:
            linked = file.parent / path

        assert linked.exists(), target
        if place:
            assert place in anchors(linked), target


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_table_has_nothing_but_short_facts(document: str) -> None:
    text = text_of(ROOT / document)

    for row in rows(text):
        longest = max(row, key=len)

        assert len(longest) <= MAX_CELL_CHARACTERS, f"write a list instead: {longest}"


LLMS = ROOT / "llms.txt"
SKILL = ROOT / "skills/image-workflow-emulator/SKILL.md"
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


def test_every_link_of_the_list_for_programs_leads_to_a_file() -> None:
    for link in LINK.findall(text_of(LLMS)):
        file = ROOT / link
        assert file.is_file(), link


def test_every_page_is_in_the_list_for_programs() -> None:
    links = {ROOT / link for link in LINK.findall(text_of(LLMS))}

    assert links.issuperset(MANUAL)


def test_a_running_emulator_has_the_list_with_addresses_that_answer(
    emulator: EmulatorUnderTest,
) -> None:
    text = document_of(emulator, "/llms.txt")

    links = LINK.findall(text)
    links_of_file = LINK.findall(text_of(LLMS))
    assert len(links) == len(links_of_file)
    for link in links:
        _, _, path = link.partition("/_emulator")
        linked = emulator.ask("GET", path)
        assert linked.status == 200, link


def pages_of_index(emulator: EmulatorUnderTest) -> list[str]:
    """The pages that a running emulator lists, and the list itself."""
    index = document_of(emulator, "/docs")
    return [*LINK.findall(index), "README.md"]


def document_of(emulator: EmulatorUnderTest, path: str) -> str:
    answer = emulator.ask("GET", path)
    return answer.body.decode()


def test_the_index_of_a_running_emulator_names_each_page_once(
    emulator: EmulatorUnderTest,
) -> None:
    paths = [page.relative_to(ROOT / "docs") for page in MANUAL]
    names = [path.as_posix() for path in paths]
    names.append("SKILL.md")

    listed = pages_of_index(emulator)

    assert sorted(listed) == sorted(names)


def test_a_running_emulator_has_every_page_as_markdown(
    emulator: EmulatorUnderTest,
) -> None:
    for name in pages_of_index(emulator):
        page = emulator.ask("GET", f"/docs/{name}")

        media_type = page.headers["content-type"]
        assert page.status == 200, name
        assert media_type.startswith("text/markdown"), name


ELSEWHERE = re.compile(r"\w+:|/")
"""The beginning of a link that leads out of the documentation."""


def test_links_within_the_pages_of_a_running_emulator_stay_there(
    emulator: EmulatorUnderTest,
) -> None:
    listed = pages_of_index(emulator)

    for name in listed:
        folder = PurePosixPath(name).parent
        text = document_of(emulator, f"/docs/{name}")
        for link in LINK.findall(text):
            if ELSEWHERE.match(link):
                continue
            linked = normpath(folder / link)

            assert linked in listed, f"{name}: {link}"


@pytest.mark.parametrize(
    "path",
    [
        "/docs/no.md",
        "/docs/../README.md",
        "/docs/%2Fetc%2Fpasswd",
        "/docs/page.png",
    ],
)
def test_nothing_but_pages_is_served(emulator: EmulatorUnderTest, path: str) -> None:
    answer = emulator.ask("GET", path)

    assert answer.status == 404


def test_the_skill_is_short_and_says_when_to_use_it() -> None:
    text = text_of(SKILL)

    lines = text.splitlines()
    head = r"---\nname: image-workflow-emulator\ndescription: .{50,1000}\n---\n"
    assert len(lines) <= 200
    assert re.match(head, text)


@pytest.mark.skipif(not shutil.which("bash"), reason="the commands are for bash")
def test_the_commands_of_the_skill_run(tmp_path: Path) -> None:
    commands = [block.text for block in fences(SKILL, "bash")]
    script = "\n".join(commands)
    path = path_with_program(tmp_path)
    request = request_bytes("GET /v1/team", ends=True)
    with serving("--clock", "auto") as server:
        server.converse(request)
        outcome = run_bash(script, tmp_path, PATH=path, EMULATOR_URL=server.url)

    assert outcome.status == 0, outcome.output + outcome.complaint

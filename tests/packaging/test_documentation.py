"""The documentation says everything there is, and nothing that is not: options, commands, routes, words, names and codes.

What is taught elsewhere is named there: the contract for the operations, the schema for the exact form of scenario files.
"""

import argparse
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emulator.cli.arguments import build_parser, parse_arguments
from emulator.control import PREFIX
from emulator.control.application import PROCESS_ROUTES, SANDBOX_ROUTES
from emulator.domain.problems import CONTROL_CATALOGUE
from emulator.domain.resources import OPERATION_TYPES, WORKFLOWS
from emulator.scenario.format import parse_scenario
from emulator.scenario.world import BUILT_IN_WORLD, WorldCredential, world_names
from emulator.scenario.world_format import parse_world
from emulator.settings import OPTIONS
from emulator.testing import Emulator, Rule, create_app
from tests.packaging.pages import DOCUMENTATION, fences
from tests.scenario_files.contract import CONTRACT
from tests.support.contract_check import read_contract
from tests.support.contract_words import DOCUMENTS as DERIVED
from tests.support.served import ROOT

PAGES = {path: path.read_text(encoding="utf-8") for path in DOCUMENTATION}
EVERYTHING = "\n".join(PAGES.values())
CODE = re.compile(r"`([^`]+)`")


def page(title: str) -> str:
    """A page of the documentation, by its title."""
    return next(text for text in PAGES.values() if text.startswith(f"# {title}\n"))


def rows(text: str) -> list[list[str]]:
    """The cells of every table in a text, without headings."""
    lines = re.findall(r"^\|(.*)\|$", text, re.MULTILINE)
    table = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
    rules = [number for number, cells in enumerate(table) if set(cells[0]) == {"-"}]
    return [cells for number, cells in enumerate(table) if number not in rules and number + 1 not in rules]


SHOWN = [text for path in DOCUMENTATION for _, text in fences(path, "yaml")]
"""The scenarios and the worlds that the documentation shows."""


# Options and commands ---------------------------------------------------------------------------------------------------


def test_every_option_is_in_the_table_with_its_variable_and_default() -> None:
    expected = {f"`{option.flag} {option.placeholder}`": (f"`{option.variable}`", option.default) for option in OPTIONS}
    found = {row[0]: (row[1], row[2]) for row in rows(page("Commands and options")) if row[0].startswith("`--")}
    assert expected == found


def commands(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that can be typed, with the parser of its arguments."""
    actions = {action.dest: action for action in parser._actions}
    for action in actions.values():
        if isinstance(action, argparse._SubParsersAction):
            for word, inner in action.choices.items():
                yield from commands(inner, f"{name} {word}".strip())
            return
    if "action" in actions and actions["action"].choices:
        yield from ((f"{name} {word}", parser) for word in actions["action"].choices)
    else:
        yield name, parser


def test_every_command_is_in_the_table() -> None:
    spans = [span for row in rows(page("Commands and options")) for span in CODE.findall(row[0])]
    leading = (re.match(r"[a-z]+(?: [a-z]+)?\b(?!-)", span.replace("[", "").replace("]", "")) for span in spans)
    assert {name for name, _ in commands(build_parser())} == {match[0].strip() for match in leading if match}


def test_every_option_of_every_command_is_named() -> None:
    flags = {
        flag for _, parser in commands(build_parser()) for action in parser._actions for flag in action.option_strings
    }
    assert set() == {flag for flag in flags - {"-h", "--help"} if not re.search(rf"{flag}\b", EVERYTHING)}


SENTENCES = re.findall(r"`(?:.venv/bin/python -m emulator|image-workflow-emulator)\s([^`]+)`", EVERYTHING)
"""Commands within sentences; those in blocks are run by test_pages_run."""


@pytest.mark.parametrize("line", SENTENCES)
def test_a_command_in_a_sentence_can_be_typed(line: str) -> None:
    words = [re.sub(r"^[A-Z]+$", "1", word) for word in shlex.split(line)]
    assert parse_arguments(words).command == words[0]


def test_a_verb_of_make_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", EVERYTHING, re.MULTILINE))
    assert {"serve", "test", "check", "verify", "bench"} <= named <= targets


# The control plane ------------------------------------------------------------------------------------------------------

ROUTES = {**PROCESS_ROUTES, **SANDBOX_ROUTES}
REQUESTS = {f"{method} {PREFIX}{path}" for path, actions in ROUTES.items() for method in actions}


def test_every_route_of_the_control_plane_is_in_the_tables() -> None:
    documented = [f"{row[0].partition(' ')[0]} {CODE.findall(row[0])[0]}" for row in rows(page("The control plane"))]
    assert sorted(REQUESTS) == sorted(documented)


def test_every_query_parameter_of_the_control_plane_is_named() -> None:
    names = {name for actions in ROUTES.values() for action in actions.values() for name in action.query}
    assert set() == {name for name in names if not re.search(rf"[`?&]{name}[`=]", EVERYTHING)}


def test_the_control_planes_own_codes_are_named() -> None:
    assert set() == {code for code in CONTROL_CATALOGUE if f"`{code}`" not in page("The control plane")}


# Scenarios, worlds, codes -----------------------------------------------------------------------------------------------


def schema_words() -> set[str]:
    """Every key that a scenario file may have, and every word but those of the contract, by its published schema."""
    schema = json.loads((ROOT / "contract/scenario.schema.json").read_text(encoding="utf-8"))
    words: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            properties = node.get("properties")
            words.update(properties if isinstance(properties, dict) else ())
            words.update(word for word in node.get("enum", ()) if isinstance(word, str) and "." not in word)
        for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(inner)

    for name in ("operation", "code", "work"):
        del schema["$defs"][name]["enum"]
    walk(schema)
    return words


@pytest.mark.parametrize("word", sorted(schema_words()))
def test_a_word_of_scenario_files_is_explained_or_shown(word: str) -> None:
    # Those of its `world` are a world file's.
    where = page("Scenarios: failures on demand") + page("Teams and keys") + page("The clock")
    assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", where)


def test_the_kinds_of_work_are_named_or_shown_by_their_form() -> None:
    text = page("Scenarios: failures on demand")
    assert set() == {work for work in WORKFLOWS if f"`{work}`" not in text}
    assert any(f"`{work}`" in text for work in OPERATION_TYPES)


@pytest.mark.parametrize("path", DERIVED, ids=lambda path: path.name)
def test_what_repeats_the_contract_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == DERIVED[path](read_contract("openapi.yaml")), "run: make contract"


LIBRARY = rows(page("Scenarios: failures on demand").partition("| To see | Scenario |")[2])


def test_the_table_of_the_library_names_every_scenario_once() -> None:
    names = [name for row in LIBRARY for name in CODE.findall(row[1])]
    assert sorted(file.stem for file in (ROOT / "scenarios").glob("*.yaml")) == sorted(names)


@pytest.mark.parametrize("text", [text for text in SHOWN if text.startswith("scenario:")])
def test_a_scenario_that_is_shown_can_be_used(text: str) -> None:
    assert parse_scenario(text, "README.md", CONTRACT, world_names(BUILT_IN_WORLD)).rules


@pytest.mark.parametrize("text", [text for text in SHOWN if not text.startswith("scenario:")])
def test_a_world_that_is_shown_can_be_used(text: str) -> None:
    assert parse_world(text, "README.md").teams != BUILT_IN_WORLD.teams


def state_of(credential: WorldCredential) -> str:
    """The word by which the table tells what a key is for, where it is not for everything."""
    if credential.profile == "read_only":
        return "`read_only`"
    if credential.expires_at is not None:
        return "`credential_expired`"
    return "`credential_revoked`" if credential.state == "revoked" else ""


def test_the_table_of_keys_is_the_built_in_world() -> None:
    found: list[tuple[str, str, str, str, str]] = []
    for name, balance, subscription, key, use in rows(page("Teams and keys").partition("## What work costs")[0]):
        team = (name, balance, subscription) if name else found[-1][:3]
        found.append((*team, key, use))
    expected = [
        (team.name, str(team.credits), "active" if team.subscription_active else "inactive", credential)
        for team in BUILT_IN_WORLD.teams
        for credential in team.credentials
    ]
    assert [(*team, f"`{credential.key}`") for *team, credential in expected] == [row[:4] for row in found]
    assert all(state_of(row[3]) in shown[4] for row, shown in zip(expected, found, strict=True))


# Python and the page ----------------------------------------------------------------------------------------------------


def test_every_name_in_the_table_of_python_exists() -> None:
    sandbox = create_app().sandbox
    known = {name for thing in (Emulator, Rule, sandbox, sandbox.clock, sandbox.team("Demo")) for name in dir(thing)}
    known |= {"default", *(option.field for option in OPTIONS)}
    table = rows(page("Testing a client").partition("## From Python")[2])
    spans = CODE.findall(" ".join(cell for row in table for cell in row))
    names = {re.sub(r"^(?:[Ee]mulator|sandbox)\.", "", span) for span in spans}
    assert set() == {name for name in names if re.match(r"\w+", name)[0] not in known}  # type: ignore[index]


def test_every_region_of_the_page_is_in_its_table() -> None:
    files = (ROOT / "emulator/control/page").glob("*.js")
    names = {
        name for file in files for name in re.findall(r'^export const name = "(.*)";$', file.read_text(), re.MULTILINE)
    }
    assert names == {row[0] for row in rows(page("The page"))}


# Links ------------------------------------------------------------------------------------------------------------------


def anchors(document: Path) -> set[str]:
    """The names under which the headings of a document can be linked to."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


DOCUMENTS = [*(str(path.relative_to(ROOT)) for path in PAGES), "emulator/README.md", "tests/README.md", "CHANGELOG.md"]


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


@pytest.mark.parametrize("room", sorted(path.parent.name for path in (ROOT / "emulator").glob("*/__init__.py")))
def test_every_room_of_the_house_is_in_the_design_notes(room: str) -> None:
    assert f"`{room}`" in (ROOT / "emulator/README.md").read_text(encoding="utf-8")


def test_every_file_that_the_design_notes_name_exists() -> None:
    notes = (ROOT / "emulator/README.md").read_text(encoding="utf-8")
    named = {span for span in CODE.findall(notes) if re.fullmatch(r"[a-z_/]+\.\w+|\w+/", span)}
    assert set() == {name for name in named if not any((ROOT / base / name).exists() for base in ("", "emulator"))}

"""Readings of the specification, as options, files, scenarios and bodies give them.

Owns their two forms, a text and a mapping. Which readings there are is said in
`image_workflow_emulator.domain.readings`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from image_workflow_emulator.documents.complaints import choice_of
from image_workflow_emulator.documents.document import Document, read_document
from image_workflow_emulator.documents.files import read_file
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.documents.violations import Steps
from image_workflow_emulator.domain.readings import (
    NO_READINGS,
    PLAIN,
    READINGS,
    SETS,
    Readings,
    parse_readings,
)
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import SettingError


def readings_of_option(text: str) -> Readings:
    """Read what `--readings` takes.

    Raises:
        SettingError: the text names a reading that does not exist.
        DocumentError: a file cannot be used.
        OSError: a file cannot be read.
    """
    file = file_of_readings(text)
    if file is not None:
        document = read_document(read_file(file), text)
        return readings_of(document)
    try:
        return parse_readings(text)
    except ValueError as error:
        name = str(error)
        raise SettingError(
            "--readings",
            name,
            _expected(name),
            _nearby_names(name),
        ) from None


def file_of_readings(text: str) -> Path | None:
    """Return the file that a text such as that of `--readings` names.

    None if the text is made of readings and sets.
    """
    if any(sign in text for sign in "=,:"):
        return None
    return scenario_file(text)


def readings_of(document: Document) -> Readings:
    """Read a document of readings alone.

    Raises:
        DocumentError: with every complaint about it.
    """
    document.check(Schemas(shipped_document("contract/readings.schema.json")))
    readings = read_readings(document)
    document.raise_complaints()
    return readings or NO_READINGS


def read_readings(document: Document) -> Readings | None:
    """Read the `readings` of a document, and complain of those that do not exist."""
    given = document.value.get("readings")
    if given is None:
        return None
    readings = NO_READINGS
    for steps, text in _option_texts(given):
        try:
            readings = parse_readings(text, readings)
        except ValueError as error:
            name = str(error)
            document.check_word(
                steps,
                word=name,
                words=_nearby_names(name),
                kind=_expected(name),
            )
    return readings


def _option_texts(given: Any) -> Iterator[tuple[Steps, str]]:
    """Return the readings as texts such as `--readings` takes, each with its place."""
    if isinstance(given, str):
        yield ("readings",), given
        return
    for decision, identifier in given.items():
        yield ("readings", decision), f"{decision}={identifier}"


def _expected(unknown: str) -> str:
    """Say what can stand in place of an unknown name."""
    of_decision = _readings_of_decision(unknown)
    if of_decision:
        return choice_of(of_decision)
    sets = ", ".join(SETS)
    return f"readings such as D26=always-a-cursor, a set ({sets}), or a file"


def _nearby_names(unknown: str) -> list[str]:
    """Return the names among which the one may be that was meant."""
    return _readings_of_decision(unknown) or [*READINGS, *SETS]


def _readings_of_decision(name: str) -> list[str]:
    """Return the readings of the decision that a name begins with, the plain one last;
    none if it has no other.
    """
    decision = name.partition("=")[0]
    readings = [reading for reading in READINGS if reading.startswith(f"{decision}=")]
    if readings:
        readings.append(f"{decision}={PLAIN}")
    return readings


def described_readings() -> list[dict[str, Any]]:
    """Return every reading with the words of the ledger.

    Each has the id and title of its decision and the fields of the reading.
    """
    described = []
    for decision in shipped_document("contract/decisions.yaml")["decisions"]:
        head = {"decision": decision["id"], "title": decision["title"]}
        readings = decision.get("readings", ())
        described += [{**head, **reading} for reading in readings]
    return described

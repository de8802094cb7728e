"""The readings file, `image-workflow.readings.yaml`, and the other forms in which readings are given.

Owns the text of `--readings` where it names a file, and the mapping of a file, a body or a scenario. Which readings
there are is said in `image_workflow_emulator.domain.readings`.
"""

from pathlib import Path
from typing import Any, Final

from image_workflow_emulator.documents.complaints import choice_of
from image_workflow_emulator.documents.document import Document, read_document
from image_workflow_emulator.documents.schemas import Schemas, Steps
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.domain.readings import NO_READINGS, PLAIN, READINGS, SETS, Readings, parse_readings
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import SettingError

READINGS_WORDS: Final = f"readings such as D26=always-a-cursor, a set ({', '.join(SETS)}), or a file"
"""What to expect, in words, where readings are given as a text."""


def readings_of_option(text: str) -> Readings:
    """Read what `--readings` takes.

    Raises:
        SettingError: a reading that there is not.
        DocumentError: a file that cannot be used.
        OSError: a file that cannot be read.
    """
    if file := file_of_readings(text):
        return readings_of(read_document(file.read_bytes(), text))
    try:
        return parse_readings(text)
    except ValueError as error:
        raise SettingError("--readings", str(error), *_expected(str(error))) from None


def _expected(unknown: str) -> tuple[str, list[str]]:
    """Say what can stand in place of an unknown name, such as the readings of its decision; and list the words."""
    decision = unknown.partition("=")[0]
    of_decision = [name for name in READINGS if name.startswith(f"{decision}=")]
    if of_decision:
        return choice_of([*of_decision, f"{decision}={PLAIN}"]), of_decision
    return READINGS_WORDS, [*READINGS, *SETS]


def file_of_readings(text: str) -> Path | None:
    """Return the file that a text such as that of `--readings` names; None if it is made of readings and sets."""
    return None if any(sign in text for sign in "=,:") else scenario_file(text)


def readings_of(document: Document) -> Readings:
    """Read a document of readings alone. Raises DocumentError with every complaint about it."""
    document.check(Schemas(shipped_document("contract/readings.schema.json")))
    readings = read_readings(document)
    document.raise_complaints()
    return readings or NO_READINGS


def read_readings(document: Document) -> Readings | None:
    """Read the `readings` of a document, a text as `--readings` takes it, or a mapping; complain of unknown ones."""
    given = document.value.get("readings")
    if given is None:
        return None
    parts: list[tuple[Steps, str]] = [(("readings",), given)]
    if not isinstance(given, str):
        parts = [(("readings", decision), f"{decision}={name}") for decision, name in given.items()]
    readings = NO_READINGS
    for steps, text in parts:
        try:
            readings = parse_readings(text, readings)
        except ValueError as error:
            expected, words = _expected(str(error))
            document.check_word(steps, str(error), words, expected)
    return readings


def described_readings() -> list[dict[str, Any]]:
    """Return every reading with the words of the ledger: the decision, its title, and the fields of the reading."""
    decisions = shipped_document("contract/decisions.yaml")["decisions"]
    return [
        {"decision": decision["id"], "title": decision["title"], **reading}
        for decision in decisions
        for reading in decision.get("readings", ())
    ]

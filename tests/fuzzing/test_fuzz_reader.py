"""The reader of documents alone: each text is read, or refused in words and in time."""

import re
import time
from collections.abc import Callable
from random import Random

import pytest

from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.document import Document, read_document
from image_workflow_emulator.documents.schemas import MAX_COMPLAINTS
from image_workflow_emulator.scenario.readings import readings_of
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.scenario.world import built_in_world, world_names, world_of
from tests.fuzzing.cases import amounts, cases, changed_bytes
from tests.support.every_operation import CONTRACT

MAX_SECONDS = 3
"""Limit of the processor time of one document, some times what the costliest needs."""
COMPLAINT = re.compile(r"(?s)f(:\d+:\d+)?: (.*: )?found .+; expected .+")
INSERTS = (
    b"!!str ",
    b"!!seq ",
    b"!!map ",
    b"!!null ",
    b"!x ",
    b"&a ",
    b"*a",
    b"<<: ",
    b"? ",
    b"- ",
    b"{",
    b"[",
    b"]",
    b"}",
    b"\n",
    b"\xff",
)

TAGS = ("", "", "", "!!str ", "!!seq ", "!!map ", "!!set ", "!!int ", "! ", "!own ")
SCALARS = ("1", "true", "~", "''", '"a"', "text", "1e400", "0x1f", ".inf", "2026-01-01")
KEYS = ("a", "b", "'<<'", "<<", "1", "? [c]\n: d", "x" * 300, '"\\u0000"')


def value_of(chance: Random, depth: int) -> str:
    """Write a value in flow style, with tags, anchors and aliases at random places."""
    mark = chance.choice(TAGS)
    if chance.random() < 0.1:
        mark = f"&n{chance.randrange(3)} {mark}"
    match chance.randrange(4 if depth else 2):
        case 0:
            return mark + chance.choice(SCALARS)
        case 1:
            return f"*n{chance.randrange(3)}" if chance.random() < 0.2 else "text"
        case 2:
            items = [value_of(chance, depth - 1) for _ in range(chance.randrange(4))]
            return f"{mark}[{', '.join(items)}]"
        case _:
            fields = [
                f"{chance.choice(TAGS)}{chance.choice(KEYS)}: "
                f"{value_of(chance, depth - 1)}"
                for _ in range(chance.randrange(4))
            ]
            return f"{mark}{{{', '.join(fields)}}}"


def misspelled(word: str, chance: Random) -> str:
    place = chance.randrange(len(word))
    return word[:place] + chance.choice("aeiou_") + word[place + 1 :]


def many_words(
    chance: Random,
    least: int = 1,
    most: int = 9_000,
) -> list[str]:
    """Return misspelled words, which are long or alike, few or many."""
    word = chance.choice(
        ("getTeam", "internal_error", "ab" * 30, "Demo", "D26", "hold")
    )
    number = round(least * (most / least) ** chance.random())
    return [f"{misspelled(word, chance)}{index}" for index in range(number)]


def nested(chance: Random) -> str:
    opening = chance.choice(("[", "{a: ", "- ", "? ", "&n0 [*n0, ", "!!seq ["))
    return opening * chance.choice((3, 30, 33, 300, 30_000))


def aliases(chance: Random) -> str:
    """Write a document in which each level names the one before several times."""
    uses = chance.choice((1, 2, 10))
    lines = ["n0: &n0 [x]"]
    for level in range(1, chance.choice((3, 12, 40))):
        items = ", ".join([f"*n{level - 1}"] * uses)
        lines.append(f"n{level}: &n{level} [{items}]")
    return "\n".join(lines)


def scenario_of_mistakes(chance: Random) -> str:
    words = many_words(chance)
    listed = ", ".join(words)
    fields = ", ".join(f"{word}: 1" for word in words)
    place = chance.choice(
        (
            f"rules: [{{match: {{operation: [{listed}]}}, then: {{hold: 1}}}}]",
            f"rules: [{{match: {{{fields}}}, then: {{hold: 1}}}}]",
            f"rules: [{{match: {{body: {{{fields}}}}}, then: {{hold: 1}}}}]",
            f"rules: [{{match: {{query: {{{fields}}}}}, then: {{hold: 1}}}}]",
            f"rules: [{{then: {{{fields}}}}}]",
            f"readings: {{{fields}}}",
            f"world: {{teams: {{{fields}}}}}",
            f"world: {{timings: {{{fields}}}}}",
            f"timeline: [{{at: 0, set: {{{fields}}}}}]",
            fields,
        )
    )
    return f"{{scenario: x, {place}}}"


def scenario_of_many_rules(chance: Random) -> str:
    word = chance.choice(("team", "credential", "operation", "resource"))
    rules = [
        f"- {{match: {{{word}: {name}}}, then: {{hold: 1s}}}}"
        for name in many_words(chance, most=2_100)
    ]
    return "scenario: x\nrules:\n" + "\n".join(rules)


def random_values(chance: Random) -> str:
    return f"scenario: x\nrules: {value_of(chance, 6)}\nworld: {value_of(chance, 6)}\n"


MAKERS: tuple[Callable[[Random], str], ...] = (
    random_values,
    random_values,
    nested,
    aliases,
    scenario_of_mistakes,
    scenario_of_many_rules,
)


def as_scenario(text: bytes) -> object:
    names = world_names(built_in_world())
    return parse_scenario(text, "f", CONTRACT, names)


def as_world(text: bytes) -> object:
    return world_of(read_document(text, "f"))


def as_readings(text: bytes) -> object:
    return readings_of(read_document(text, "f"))


def as_document(text: bytes) -> Document:
    return read_document(text, "f")


READERS = (as_scenario, as_scenario, as_world, as_readings, as_document)


def refusal_of(read: Callable[[bytes], object], text: bytes) -> DocumentError | None:
    """Read a text; return its refusal, None if it was read."""
    try:
        read(text)
    except DocumentError as error:
        return error
    return None


@pytest.mark.parametrize("amount", amounts(150, 4_000))
def test_a_text_is_read_or_refused_in_words_and_in_time(amount: int) -> None:
    refused = 0
    for case in cases("texts", amount):
        text = case.chance.choice(MAKERS)(case.chance).encode()
        for _ in range(case.chance.choice((0, 0, 1, 3))):
            text = changed_bytes(text, case.chance, INSERTS)
        read = case.chance.choice(READERS)

        with case.told(reader=read.__name__, text=text):
            began_at = time.process_time()
            refusal = refusal_of(read, text)
            seconds = time.process_time() - began_at

            assert seconds < MAX_SECONDS
            if refusal is not None:
                refused += 1
                assert 1 <= len(refusal.complaints) <= MAX_COMPLAINTS
                assert all(COMPLAINT.fullmatch(str(one)) for one in refusal.complaints)
    assert 0.3 * amount < refused < amount, "the fuzzer has lost its way"

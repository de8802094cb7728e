"""JSON bodies are read as the standard library reads them: the same texts, the same values (D03)."""

import json
import math
import sys
from typing import Any

import pytest

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.json_bodies import parse_json
from tests.fuzzing import json_texts
from tests.fuzzing.cases import amounts, cases
from tests.support.contract_check import unique_keys

DEPTH_LIMIT = 254
MAX_NUMBER_CHARACTERS = 4_000
REFUSED = object()
"""Stands for no value, where a text is refused."""


def understood(body: bytes) -> Any:
    """Return what the emulator reads, REFUSED if it refuses."""
    try:
        return parse_json(body, b"application/json")
    except Problem as problem:
        refusal = problem.code, problem.status
    assert refusal == ("invalid_request", 400)
    return REFUSED


def meant(body: bytes) -> Any:
    """Return what a text says by the standard library, strictly: REFUSED for what D03 and the limit of depth refuse."""
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=unique_keys,
            parse_constant=int,  # which refuses NaN and Infinity
            parse_int=whole_number,
            parse_float=bounded,
        )
    except (ValueError, RecursionError):
        return REFUSED
    return value if is_well_formed(value) else REFUSED


def bounded(text: str) -> float:
    """Return a number, as large as a double can be where it is larger (D52)."""
    return max(min(float(text), sys.float_info.max), -sys.float_info.max)


def whole_number(text: str) -> int | float:
    """Return a whole number, exactly unless it is absurdly long."""
    return int(text) if len(text) < MAX_NUMBER_CHARACTERS else bounded(text)


def is_well_formed(value: Any, depth: int = 0) -> bool:
    """Tell whether no string has half a surrogate pair and nothing is nested too deeply."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, list):
        return depth < DEPTH_LIMIT and all(
            is_well_formed(item, depth + 1) for item in value
        )
    if isinstance(value, dict):
        inner = (*value.keys(), *value.values())
        return depth < DEPTH_LIMIT and all(
            is_well_formed(item, depth + 1) for item in inner
        )
    return True


def same(meant: Any, found: Any) -> bool:
    """Tell whether a value is the one that was meant.

    A whole number may be a double that is next to it, and a fraction that no double comes near is not read as whole
    (D52).
    """
    if (
        isinstance(meant, bool)
        or not isinstance(meant, int | float)
        or isinstance(found, bool)
    ):
        if type(meant) is not type(found):
            return False
        if isinstance(meant, list):
            return len(meant) == len(found) and all(map(same, meant, found))
        if isinstance(meant, dict):
            return list(meant) == list(found) and all(
                map(same, meant.values(), found.values())
            )
        return bool(meant == found)
    if isinstance(found, int):
        return meant == found
    double = bounded(str(meant))
    return found == double or (
        double.is_integer() and found == math.nextafter(double, math.inf)
    )


@pytest.mark.parametrize("amount", amounts(3_000, 400_000))
def test_a_text_is_read_as_the_standard_library_reads_it_or_refused_by_both(
    amount: int,
) -> None:
    refused = 0
    for case in cases("JSON", amount):
        body = json_texts.body(case.chance, DEPTH_LIMIT)
        with case.told(body=body):
            expected, found = meant(body), understood(body)
            assert (expected is REFUSED) == (found is REFUSED)
            assert same(expected, found)
            refused += found is REFUSED
    assert 0.2 * amount < refused < 0.8 * amount, "the fuzzer has lost its way"

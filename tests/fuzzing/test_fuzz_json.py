"""JSON bodies are read as the standard library reads them (D03).

The same texts are read or refused, and the values are the same.
"""

import json
import math
from typing import Any

import pytest

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.json_bodies import parse_json
from tests.fuzzing import json_texts
from tests.fuzzing.cases import amounts, cases
from tests.support.contract_check import unique_keys

DEPTH_LIMIT = 254
REFUSED = object()
"""Stands for no value, where a text is refused."""


def understood(body: bytes) -> Any:
    """Return what the emulator reads, REFUSED if it refuses."""
    try:
        return parse_json(body, b"application/json")
    except Problem as problem:
        refusal = problem
    assert refusal.code == "invalid_request"
    assert refusal.status == 400
    return REFUSED


def meant(body: bytes) -> Any:
    """Return what a text says by the standard library, strictly.

    REFUSED for what D03, D52 and D56 refuse.
    """
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=unique_keys,
            parse_constant=int,  # which refuses NaN and Infinity
            parse_int=whole_number,
            parse_float=double,
        )
    except (ValueError, RecursionError):
        return REFUSED
    return value if is_well_formed(value) else REFUSED


def double(text: str) -> float:
    """Return the nearest double. Raises ValueError if there is none (D52)."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


def whole_number(text: str) -> int | float:
    """Return an integer of at most 64 bits exactly, and any other as a double (D52)."""
    value = double(text)
    if abs(value) < 2**63:
        return int(text)
    return value


def is_well_formed(value: Any, depth: int = 0) -> bool:
    """Whether no text has half a surrogate pair, and nothing is nested too deeply."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    inner: list[Any] = []
    if isinstance(value, list):
        inner = value
    elif isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    else:
        return True
    if depth >= DEPTH_LIMIT:
        return False
    return all(is_well_formed(item, depth + 1) for item in inner)


def same(meant: Any, read: Any) -> bool:
    """Whether a value is the one that was meant.

    1 and 1.0 are one number, and true is none.
    """
    if isinstance(meant, list) and isinstance(read, list):
        return len(meant) == len(read) and all(map(same, meant, read))
    if isinstance(meant, dict) and isinstance(read, dict):
        has_same_names = list(meant) == list(read)
        return has_same_names and all(map(same, meant.values(), read.values()))
    if type(meant) is int and isinstance(read, float):
        return float(meant) == read
    return type(meant) is type(read) and bool(meant == read)


@pytest.mark.parametrize("amount", amounts(3_000, 400_000))
def test_a_text_is_read_as_the_standard_library_reads_it_or_refused_by_both(
    amount: int,
) -> None:
    refused = 0
    for case in cases("JSON", amount):
        body = json_texts.body(case.chance, DEPTH_LIMIT)
        with case.told(body=body):
            expected = meant(body)
            read = understood(body)
            assert same(expected, read)
            refused += read is REFUSED
    assert 0.2 * amount < refused < 0.8 * amount, "the fuzzer has lost its way"

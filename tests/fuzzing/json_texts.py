"""Texts that are JSON or almost, and odd values that are put into good bodies.

Parsers read some of the texts in different ways.
"""

import copy
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from tests.fuzzing.cases import changed_bytes

NUMBERS = (
    "0",
    "-0",
    "1",
    "-1",
    "10",
    "0.0",
    "-0.0",
    "1e5",
    "1E+5",
    "1e-5",
    "100e-1",
    "1.5e300",
    "1e308",
    "-1e308",
    "5e-324",
    "1e309",
    "-1e400",
    "1e-400",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "1" * 309,
    "1" * 310,
    "1" * 5_000,
    "0." + "1" * 400,
    "0" * 3,
    "01",
    "-01",
    "+1",
    "1.",
    ".5",
    "1e",
    "1e+",
    "-",
    "--1",
    "0x10",
    "1_000",
    "1,5",
    "\u0661",
    "Infinity",
    "NaN",
    "-NaN",
)
STRINGS = (
    '""',
    '"a"',
    '"a:b"',
    '":::"',
    '"\\""',
    '"\\\\"',
    '"\\/"',
    '"\\b\\f\\n\\r\\t"',
    '"\\u0041"',
    '"\\u003a"',
    '"\\u003A"',
    '"\\u0000"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\ud800x"',
    '"\\uD83D\\u0041"',
    '"\\u12"',
    '"\\x41"',
    '"\\u00e9"',
    '"\u00e9"',
    '"\U0001f457"',
    '"\u2028"',
    '"\x7f"',
    '"\x1f"',
    '"\t"',
    '"\n"',
    '"\\',
    '"',
    "'a'",
    '"\\a"',
    '"\\U0041"',
)
KEYS = (
    '"a"',
    '"b"',
    '"\\u0061"',
    '"a:"',
    '"a\\u003a"',
    '""',
    '"\u00e9"',
    '"e\u0301"',
    '"__proto__"',
    '"A"',
    '"a "',
)
WORDS = ("true", "false", "null", "True", "nul", "undefined", "", "/**/1", "#", "b''")
GAPS = (
    "",
    "",
    "",
    " ",
    "\n",
    "\t",
    "\r",
    "\r\n  ",
    "\x0b",
    "\x0c",
    "\u00a0",
    "\ufeff",
    "/**/",
    "//\n",
    "\0",
)
INSERTS = (
    b",",
    b":",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b"\\u",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\0",
    b"1",
    b"e",
    b".",
    b"-",
    b" ",
    b"\xef\xbb\xbf",
    b'"a":1,',
    b"NaN",
)


def value(chance: Random, depth: int = 0) -> str:
    """Write a random value; what is below six levels is no array and no object."""
    kind = chance.randrange(10) if depth < 6 else chance.randrange(5)
    if kind < 2:
        return _choose(NUMBERS, chance, usual=15, unusual_share=0.3)
    if kind < 4:
        return _choose(STRINGS, chance, usual=11, unusual_share=0.3)
    if kind < 5:
        return _choose(WORDS, chance, usual=3, unusual_share=0.2)
    number = chance.choice((0, 1, 2, 3))
    items = [value(chance, depth + 1) for _ in range(number)]
    if kind < 7:
        return "[" + ",".join(_spaced(item, chance) for item in items) + "]"
    members: list[str] = []
    for key, item in zip(_keys(number, chance), items, strict=True):
        members.append(f"{_spaced(key, chance)}:{_spaced(item, chance)}")
    return "{" + ",".join(members) + "}"


def _choose(
    texts: Sequence[str],
    chance: Random,
    usual: int,
    unusual_share: float,
) -> str:
    """Choose one of the first texts, which are usual, or at times any one."""
    if chance.random() < unusual_share:
        return chance.choice(texts)
    return chance.choice(texts[:usual])


def _keys(number: int, chance: Random) -> list[str]:
    """Return keys of an object, which are mostly different."""
    if chance.random() < 0.8:
        return chance.sample(KEYS, number)
    return [chance.choice(KEYS) for _ in range(number)]


def _spaced(text: str, chance: Random) -> str:
    if chance.random() < 0.8:
        return text
    gaps = GAPS if chance.random() < 0.1 else GAPS[:8]
    return chance.choice(gaps) + text + chance.choice(gaps)


def nested(chance: Random, limit: int) -> str:
    """Return a value nested about as deeply as is allowed, or much more."""
    depth = chance.choice(
        (1, limit - 1, limit, limit + 1, limit * 2, 1_000, 1_025, 5_000)
    )
    text = value(chance, depth=6) or "1"
    for _ in range(depth):
        text = f"[{text}]" if chance.random() < 0.5 else f'{{"a":{text}}}'
    return text


def body(chance: Random, limit: int) -> bytes:
    """Return the bytes of a text, mostly in UTF-8, and at times changed."""
    if chance.random() < 0.05:
        text = nested(chance, limit)
    else:
        text = _spaced(value(chance), chance)
    encoding = "utf-8"
    if chance.random() >= 0.97:
        encoding = chance.choice(("utf-16", "utf-16-le", "utf-32-be", "utf-8-sig"))
    data = text.encode(encoding, "surrogatepass")
    for _ in range(chance.choice((0, 0, 0, 0, 1, 2))):
        data = changed_bytes(data, chance, INSERTS)
    return data


ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    7,
    0.5,
    -0.0,
    1e308,
    2**31,
    2**53,
    2**63 - 1,
    -(2**63),
    2**64 - 1,
    "",
    " ",
    "x",
    "0",
    "1",
    "-1",
    "on",
    "off",
    "null",
    "a\0b",
    "\u202e",
    "\U0001f457",
    "\uffff",
    "x" * 300,
    "x" * 9_000,
    "../../etc/passwd",
    "%00",
    "{}",
    "$ref",
    "__proto__",
    "1e999",
    "NaN",
    "'; --",
    "\r\nSet-Cookie: a=b",
    "\x7f",
    "*",
    [],
    [[]],
    [None],
    [1, 1],
    {},
    {"a": 1},
    {"": {}},
    [{}] * 50,
    {"type": "automatic"},
    {"use": "x"},
    "2026-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59Z",
    "9999-12-31T23:59:59.999Z",
    "10000-01-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01",
    "now",
    "x60",
    "x1e9",
    "x-1",
    "1s",
    "1000000d",
    "-1s",
    "0s",
)

Path = tuple[str | int, ...]


def places(value: Any, here: Path = ()) -> Iterator[Path]:
    """Iterate over the paths of all that is in a value.

    The step to an item of an array is its index.
    """
    inner: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for step, item in inner:
        yield (*here, step)
        yield from places(item, (*here, step))


def at(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(
    value: Any,
    chance: Random,
    odd: Sequence[Any] = ODD,
    times: int = 1,
) -> Any:
    """Return a copy of a value with some changes.

    Items are replaced, left out, doubled, renamed, or put elsewhere.
    """
    value = copy.deepcopy(value)
    for _ in range(times):
        paths = list(places(value))
        if not paths:
            return copy.deepcopy(chance.choice(odd))
        path = chance.choice(paths)
        _change(value, path, chance, odd, paths)
    return value


def _change(
    value: Any,
    path: Path,
    chance: Random,
    odd: Sequence[Any],
    paths: list[Path],
) -> None:
    """Change what is at a path of a value."""
    parent = at(value, path[:-1])
    step = path[-1]
    old = parent[step]
    match chance.randrange(7):
        case 0 | 1:
            parent[step] = copy.deepcopy(chance.choice(odd))
        case 2:
            alike = [other for other in odd if type(other) is type(old)]
            parent[step] = copy.deepcopy(chance.choice(alike or odd))
        case 3:
            del parent[step]
        case 4 if isinstance(parent, list):
            parent.insert(int(step), copy.deepcopy(old))
        case 5 if isinstance(parent, dict):
            name = str(step)
            new_name = chance.choice(("x", "", "name", f"{name}s", name.upper()))
            parent[new_name] = copy.deepcopy(old)
        case _:
            parent[step] = copy.deepcopy(at(value, chance.choice(paths)))

"""Texts that are JSON, almost JSON, or JSON of a kind that parsers disagree about."""

from random import Random

from tests.fuzzing.cases import changed_bytes

NUMBERS = (
    "0", "-0", "1", "-1", "10", "0.0", "-0.0", "1e5", "1E+5", "1e-5", "100e-1", "1.5e300", "1e308", "-1e308",
    "5e-324", "1e309", "-1e400", "1e-400", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1" * 309, "1" * 310, "1" * 5_000,
    "0." + "1" * 400, "0" * 3, "01", "-01", "+1", "1.", ".5", "1e", "1e+", "-", "--1", "0x10", "1_000", "1,5",
    "\u0661", "Infinity", "NaN", "-NaN",
)  # fmt: skip
STRINGS = (
    '""', '"a"', '"a:b"', '":::"', '"\\""', '"\\\\"', '"\\/"', '"\\b\\f\\n\\r\\t"', '"\\u0041"', '"\\u003a"',
    '"\\u003A"', '"\\u0000"', '"\\ud83d\\ude00"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud800x"', '"\\uD83D\\u0041"',
    '"\\u12"', '"\\x41"', '"\\u00e9"', '"\u00e9"', '"\U0001f457"', '"\u2028"', '"\x7f"', '"\x1f"', '"\t"', '"\n"',
    '"\\', '"', "'a'", '"\\a"', '"\\U0041"',
)  # fmt: skip
KEYS = ('"a"', '"b"', '"\\u0061"', '"a:"', '"a\\u003a"', '""', '"\u00e9"', '"e\u0301"', '"__proto__"', '"A"', '"a "')
WORDS = ("true", "false", "null", "True", "nul", "undefined", "", "/**/1", "#", "b''")
GAPS = ("", "", "", " ", "\n", "\t", "\r", "\r\n  ", "\x0b", "\x0c", "\u00a0", "\ufeff", "/**/", "//\n", "\0")
INSERTS = (
    b",", b":", b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u", b"\xff", b"\xc0\x80", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"\0", b"1", b"e", b".", b"-", b" ", b"\xef\xbb\xbf", b'"a":1,', b"NaN",
)  # fmt: skip


def value(chance: Random, depth: int = 0) -> str:
    kind = chance.randrange(10) if depth < 6 else chance.randrange(5)
    if kind < 2:
        return chance.choice(NUMBERS if chance.random() < 0.3 else NUMBERS[:15])
    if kind < 4:
        return chance.choice(STRINGS if chance.random() < 0.3 else STRINGS[:11])
    if kind < 5:
        return chance.choice(WORDS if chance.random() < 0.2 else WORDS[:3])
    items = [value(chance, depth + 1) for _ in range(chance.choice((0, 1, 2, 3)))]
    if kind < 7:
        return "[" + ",".join(_spaced(item, chance) for item in items) + "]"
    keys = chance.sample(KEYS, len(items)) if chance.random() < 0.8 else [chance.choice(KEYS) for _ in items]
    members = [f"{_spaced(key, chance)}:{_spaced(item, chance)}" for key, item in zip(keys, items, strict=True)]
    return "{" + ",".join(members) + "}"


def _spaced(text: str, chance: Random) -> str:
    if chance.random() < 0.8:
        return text
    gaps = GAPS if chance.random() < 0.1 else GAPS[:8]
    return chance.choice(gaps) + text + chance.choice(gaps)


def nested(chance: Random, limit: int) -> str:
    """Return a value nested about as deeply as is allowed, or much more."""
    depth = chance.choice((1, limit - 1, limit, limit + 1, limit * 2, 1_000, 1_025, 5_000))
    text = value(chance, depth=6) or "1"
    for _ in range(depth):
        text = f"[{text}]" if chance.random() < 0.5 else f'{{"a":{text}}}'
    return text


def body(chance: Random, limit: int) -> bytes:
    text = nested(chance, limit) if chance.random() < 0.05 else _spaced(value(chance), chance)
    encoding = "utf-8" if chance.random() < 0.97 else chance.choice(("utf-16", "utf-16-le", "utf-32-be", "utf-8-sig"))
    data = text.encode(encoding, "surrogatepass")
    for _ in range(chance.choice((0, 0, 0, 0, 1, 2))):
        data = changed_bytes(data, chance, INSERTS)
    return data

"""Scenario files with something wrong in them: in a byte, a word, a line, or in how YAML says things."""

import re
from random import Random

from tests.fuzzing.cases import changed_bytes
from tests.support.served import ROOT

SCENARIOS = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "scenarios").glob("*.yaml"))]

_WORD = re.compile(r"[^\s:,\[\]{}#]+")
_WORDS = (
    "~", "null", "true", "on", "no", "0", "-1", "1.5", "1e9", "99999999999999999999", "0x1f", "0o17", "1_000", ".inf",
    ".nan", "2026-01-01", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "12:30:00",
    "1s", "0ms", "9999999999d", "-1s", "every 5", "every 0", ">=3", ">=0", "2-4", "4-2", "0-0", "1-99999999999999",
    '"*"', "'*'", "x" * 300, "getTeam", "createUpload", "product_photography", "pose.create", "upscale", "Demo",
    "Nobody", "iwe_demo_full", "internal_error", "rate_limited", "idempotency_in_progress", "insufficient_credits",
    "after_commit", "before_commit", "reset", "truncate", "stall", "garbage", "timed_out", "content_rejected",
    "clean", "paused", "open", "revoked", '"\\u0000"', '"\\n"', '"a\\r\\nB: c"', "\u00e9", "\U0001f457", "\u202e",
    '"\\ud800"', "''", '""', "{}", "[]", "{a: b}", "[1, 2]", "&a", "*a", "&a {b: *a}",
    "!!python/object/apply:os.system", "!!binary AA==", "!x y", "<<: *a", "? a", "|", ">-", "%TAG", "---",
)  # fmt: skip
_LINES = (
    "---", "...", "# a comment", "\t- x", "  - {}", "rules: []", "seed: 1", "- match: {}",
    "world: {teams: {Demo: {credits: 1}}}", "timeline:", "  - at: 0s", "    set: {admission: paused}",
    "&a x: &b [*a]", "? [complex, key]", ": value", "a: b: c", "\u0085", "-",
    "bomb: &c [&b [&a [x, x, x], *a, *a, *a], *b, *b, *b, *b]", "deep: " + "[" * 40 + "]" * 40,
    "long: " + "x" * 5_000,
)  # fmt: skip
_INSERTS = (
    b"\n", b"\t", b" ", b":", b": ", b"- ", b"{", b"}", b"[", b"]", b"&a ", b"*a", b"!", b"|", b"\xff", b"\0",
    b"\xef\xbb\xbf",
)  # fmt: skip


def changed_text(text: str, chance: Random) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 4))):
        lines = text.split("\n")
        place = chance.randrange(len(lines))
        match chance.randrange(8):
            case 0 | 1 | 2:
                words = list(_WORD.finditer(text))
                word = chance.choice(words) if words else None
                start, end = word.span() if word else (0, 0)
                other = chance.choice(words).group() if words and chance.random() < 0.4 else chance.choice(_WORDS)
                text = text[:start] + other + text[end:]
                continue
            case 3:
                del lines[place]
            case 4:
                lines.insert(place, chance.choice(lines))
            case 5:
                lines.insert(place, chance.choice(_LINES))
            case 6:
                lines[place] = chance.choice((" ", "  ", "\t")) + lines[place]
            case 7:
                lines[place] = lines[place].strip()
        text = "\n".join(lines)
    data = text.encode("utf-8", "surrogatepass")
    return changed_bytes(data, chance, _INSERTS) if chance.random() < 0.2 else data

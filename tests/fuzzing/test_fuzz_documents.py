"""Scenario files: each is used or refused with the place of what is wrong, and what is used does no harm."""

import re
from random import Random

import pytest

from tests.fuzzing import witness
from tests.fuzzing.cases import amounts, cases, changed_bytes
from tests.fuzzing.requests_as_bytes import WireRequest
from tests.fuzzing.wire import converse
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.pictures import picture
from tests.support.served import ROOT

COMPLAINT = re.compile(r"^scenario(:\d+:\d+)?: .*found .*expected .+")
KEPT_FROM_RUNNING = (b"hold", b"latency", b"rate:")
"""Words of rules that take real time."""
BREAKS_ANSWERS = (b"network", b"internal_error")


@pytest.fixture
def beginning(control: EmulatorUnderTest) -> bytes:
    """A state to come back to, with an Asset in it."""
    control.upload(picture())
    return control.ask("GET", "/state").body


@pytest.mark.parametrize("amount", amounts(80, 6_000))
def test_a_refused_scenario_changes_nothing(control: EmulatorUnderTest, beginning: bytes, amount: int) -> None:
    used = 0
    before = witness.everything(control)
    for case in cases("scenarios", amount):
        text = changed_text(case.chance.choice(SCENARIOS), case.chance)
        with case.told(text=text.decode("utf-8", "replace")):
            answer = control.ask("PUT", "/scenario", content=text)
            if answer.status != 200:
                assert answer.outcome in ((422, "invalid_scenario"), (400, "invalid_request"))
                assert answer.status == 400 or COMPLAINT.match(answer.json["detail"])
                assert witness.differences(before, witness.everything(control)) == []
                continue
            used += 1
            live_through(control, text)
            assert control.ask("PUT", "/state", content=beginning).status == 200
            before = witness.everything(control)
    assert 0.1 * amount < used < 0.9 * amount, "the fuzzer has lost its way"


def live_through(control: EmulatorUnderTest, text: bytes) -> None:
    """Send some requests while a scenario runs, let its timeline pass, and begin anew with it."""
    assert control.told("GET", "/scenario")["scenario"]
    if not any(word in text for word in KEPT_FROM_RUNNING):
        for request in some_requests(control):
            conversation = control.run(converse(control.application, [request.written(Random(0))]))
            if not any(word in text for word in BREAKS_ANSWERS):
                (response,) = conversation.responses()
                assert response.status < 500 or response.status == 503
    assert control.ask("POST", "/clock/advance", {"seconds": 4_000}).status == 200
    assert control.ask("POST", "/reset").status == 200


def some_requests(control: EmulatorUnderTest) -> list[WireRequest]:
    """Return requests that scenarios have something to do with."""
    (asset_id,) = control.sandbox.store.assets.items
    headers = [(b"Authorization", b"Bearer iwe_demo_full"), (b"Idempotency-Key", b"1")]
    typed = [*headers, (b"Content-Type", b"application/json")]
    photoshoot = b'{"output_mode": "photoshoot", "asset_ids": ["%s"]}' % asset_id.encode()
    return [
        WireRequest(b"GET", b"/v1/team", headers),
        WireRequest(b"GET", b"/v1/poses", headers),
        WireRequest(b"POST", b"/v1/uploads", typed, b'{"content_type": "image/png", "size_bytes": 10}'),
        WireRequest(b"POST", b"/v1/generations/product-photography", typed, photoshoot),
        WireRequest(b"DELETE", b"/v1/assets/" + asset_id.encode(), headers),
    ]


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

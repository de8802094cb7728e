"""Scenario files: each is used or refused with the place of what is wrong, and what is used does no harm."""

import re
from random import Random

import pytest

from tests.fuzzing import witness
from tests.fuzzing.cases import amounts, cases
from tests.fuzzing.requests_as_bytes import WireRequest
from tests.fuzzing.wire import converse
from tests.fuzzing.yaml_texts import SCENARIOS, changed_text
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.pictures import picture

COMPLAINT = re.compile(r"^scenario(:\d+:\d+)?: .*found .*expected .+")
KEPT_FROM_RUNNING = (b"hold", b"latency", b"rate:")
"""What takes time on a real clock."""
BREAKS_ANSWERS = (b"network", b"internal_error")


@pytest.fixture
def beginning(control: EmulatorUnderTest) -> bytes:
    """A state to come back to, with an Asset in it."""
    control.upload(picture())
    return control.ask("GET", "/state").body


@pytest.mark.parametrize("amount", amounts(80, 6_000))
def test_a_scenario_is_used_or_refused_and_a_refused_one_changes_nothing(
    control: EmulatorUnderTest, beginning: bytes, amount: int
) -> None:
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

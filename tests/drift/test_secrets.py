"""Nothing that is secret or personal survives scrubbing, and what is evidence does."""

import json

import pytest

from image_workflow_emulator.drift.har import as_har
from image_workflow_emulator.drift.secrets import Scrubber, SurvivorError
from image_workflow_emulator.testing.transport import ORIGIN
from image_workflow_emulator.traffic.exchanges import RecordedExchange
from tests.drift.recorded import judged, tour

BASE_URL = "https://api.example.com/v1"
CANARY = "canary-of-somebody"


def scrubbed(exchange: RecordedExchange, base_url: str = BASE_URL) -> str:
    scrubber = Scrubber(b"key", base_url)
    content = json.dumps(as_har([scrubber.scrub(exchange)]))
    scrubber.check(content.encode())
    return content


def exchange(**changes: object) -> RecordedExchange:
    values: dict[str, object] = {
        "where": "one",
        "at": 0,
        "took_ms": 1.0,
        "method": "POST",
        "url": f"{BASE_URL}/products",
        "request_headers": {},
        "request_body": b"{}",
        "status": 200,
        "response_headers": {},
        "response_body": b"{}",
    }
    return RecordedExchange(**{**values, **changes})  # type: ignore[arg-type]


REQUEST_HEADERS = ("cookie", "x-api-key", "x-forwarded-for", "proxy-authorization", "idempotency-key", "referer")
RESPONSE_HEADERS = ("set-cookie", "x-request-owner", "etag", "request-id", "server-timing")
MEMBERS = ("api_key", "ACCESS_TOKEN", "upload_token", "password", "clientSecret", "email", "name", "custom_directions")
URLS = (
    f"{BASE_URL}/assets?after={CANARY}",
    f"{BASE_URL}/assets?token={CANARY}",
    f"https://files.example.com/a.png?signature={CANARY}",
    f"https://{CANARY}.example.com/a.png",
)
BODIES = [{"nested": [{name: CANARY}]} for name in MEMBERS] + [{"url": url} for url in URLS] + [{f"a {CANARY}": 1}]


@pytest.mark.parametrize(
    "changes",
    [
        *({"request_headers": {"authorization": text}} for text in (f"Bearer {CANARY}", CANARY, f"{CANARY} ")),
        *({"request_headers": {name: CANARY}} for name in REQUEST_HEADERS),
        *({"response_headers": {name: CANARY}} for name in RESPONSE_HEADERS),
        *({side: json.dumps(body).encode()} for body in BODIES for side in ("request_body", "response_body")),
        *({"url": url} for url in URLS),
        {"request_body": b"\x89PNG " + CANARY.encode(), "request_headers": {"content-type": "image/png"}},
    ],
    ids=str,
)
def test_a_secret_does_not_survive_wherever_it_stands(changes: dict[str, object]) -> None:
    assert CANARY not in scrubbed(exchange(**changes))


def test_of_a_picture_its_size_survives() -> None:
    assert '\\"size_bytes\\":4' in scrubbed(exchange(request_body=b"\x89PNG"))


def test_the_name_of_the_host_does_not_survive() -> None:
    assert "example.com" not in scrubbed(exchange())


def test_what_would_survive_stops_everything() -> None:
    scrubber = Scrubber(b"key", BASE_URL)
    scrubber.scrub(exchange(request_headers={"authorization": "Bearer sk_live_1234"}))
    with pytest.raises(SurvivorError):
        scrubber.check(b"... sk_live_1234 ...")


def test_equal_values_stay_equal_and_lengths_stay() -> None:
    scrubber = Scrubber(b"key", BASE_URL)
    first = scrubber.scrub(exchange(request_body=b'{"name":"Linen shirt for summer"}'))
    again = scrubber.scrub(exchange(request_body=b'{"name":"Linen shirt for summer"}'))
    assert first.request_body == again.request_body
    assert len("Linen shirt for summer") == len(json.loads(first.request_body or b"")["name"])


def test_a_scrubbed_recording_is_judged_like_the_recording() -> None:
    exchanges = tour("D26=always-a-cursor,D70=relative")
    scrubber = Scrubber(b"key", f"{ORIGIN}/v1")
    whole, kept = judged(exchanges), judged([scrubber.scrub(one) for one in exchanges])
    assert whole.readings == kept.readings
    assert [(row.decision, row.verdict) for row in whole.rows] == [(row.decision, row.verdict) for row in kept.rows]
    assert () == kept.differences == kept.breaches

"""Nothing that is secret or personal survives scrubbing, and what is evidence does."""

import json

import pytest

from emulator.drift.har import as_har
from emulator.drift.secrets import Scrubber, SurvivorError
from emulator.testing.exchanges import ORIGIN
from emulator.traffic.exchanges import Exchange
from tests.drift.recorded import judged, tour

BASE_URL = "https://api.example.com/v1"
CANARY = "canary-{}-value"


def scrubbed(exchange: Exchange, base_url: str = BASE_URL) -> str:
    scrubber = Scrubber(b"key", base_url)
    content = json.dumps(as_har([scrubber.scrub(exchange)]))
    scrubber.check(content.encode())
    return content


def exchange(**changes: object) -> Exchange:
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
    return Exchange(**{**values, **changes})  # type: ignore[arg-type]


HEADERS = [
    "authorization",
    "cookie",
    "x-api-key",
    "x-forwarded-for",
    "proxy-authorization",
    "idempotency-key",
    "referer",
]
MEMBERS = ["api_key", "ACCESS_TOKEN", "upload_token", "password", "clientSecret", "email", "name", "custom_directions"]


@pytest.mark.parametrize("name", HEADERS)
def test_a_request_header_does_not_survive(name: str) -> None:
    canary = CANARY.format(name)
    assert canary not in scrubbed(
        exchange(request_headers={name: f"Bearer {canary}" if name == "authorization" else canary})
    )


@pytest.mark.parametrize("name", ["set-cookie", "x-request-owner", "etag", "request-id", "server-timing"])
def test_a_response_header_does_not_survive(name: str) -> None:
    canary = CANARY.format(name)
    assert canary not in scrubbed(exchange(response_headers={name: canary}))


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize("side", ["request_body", "response_body"])
def test_a_member_of_a_body_does_not_survive(name: str, side: str) -> None:
    canary = CANARY.format(name)
    body = json.dumps({"nested": [{name: canary}]}).encode()
    assert canary not in scrubbed(exchange(**{side: body}))


@pytest.mark.parametrize(
    "url",
    [
        f"{BASE_URL}/assets?after=canary-url-value",
        f"{BASE_URL}/assets?token=canary-url-value",
        "https://files.example.com/a.png?signature=canary-url-value",
        "https://canary-url-value.example.com/a.png",
    ],
)
def test_a_secret_in_an_address_does_not_survive(url: str) -> None:
    assert "canary-url-value" not in scrubbed(exchange(url=url))
    assert "canary-url-value" not in scrubbed(exchange(response_body=json.dumps({"url": url}).encode()))


def test_the_bytes_of_a_picture_do_not_survive() -> None:
    content = scrubbed(
        exchange(request_body=b"\x89PNG canary-bytes-value", request_headers={"content-type": "image/png"})
    )
    assert "canary-bytes-value" not in content
    assert '\\"size_bytes\\":23' in content


def test_the_name_of_the_host_does_not_survive() -> None:
    assert "example.com" not in scrubbed(exchange())


def test_a_secret_in_a_name_of_a_member_does_not_survive() -> None:
    body = json.dumps({"canary name value": 1}).encode()
    assert "canary name value" not in scrubbed(exchange(response_body=body))


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

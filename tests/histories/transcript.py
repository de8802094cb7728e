"""One long conversation with the emulator, written down to the last byte.

It goes through everything that could let two runs differ: identifiers, signatures, tokens, cursors, ETags, timestamps,
pictures, order of headers, texts of errors, replays, faults by scenario, the journal, and jumps of the clock. What it
sends depends only on what it was answered. Under an `auto` or `manual` clock the same emulator must give the same
transcript.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from typing import Any

from image_workflow_emulator.imaging.normalize import CONTENT_TYPES
from tests.support.emulator_client import HOST, LISTS, TERMINAL, UPLOAD, Answer, Call, Client, Json
from tests.support.every_operation import CALLS, SUCCESSES, Things
from tests.support.pictures import photo
from tests.support.served import serving
from tests.support.served_client import SECONDS, ServedClient

CREATION = {"operation": "createProduct"}
FAULTS = {
    "scenario": "faults of the transcript",
    "rules": [
        {"match": CREATION, "when": {"nth": "1"}, "then": {"problem": "service_unavailable"}},
        {"match": CREATION, "when": {"nth": "2"}, "then": {"problem": "internal_error", "at": "after_commit"}},
        {"match": {"work": "product_photography"}, "then": {"outputs": {"1": "content_rejected", "3": "timed_out"}}},
        {"match": {"work": "upscale"}, "when": {"probability": 0.5}, "then": {"fail": "processing_failed"}},
    ],
    "timeline": [
        {"at": 3600, "set": {"admission": "paused", "retry_after": 7}},
        {"at": 7200, "set": {"admission": "open"}},
    ],
}

Exchange = tuple[str, Answer]
"""A request's first line and all that was answered."""


class Recorder(ServedClient):
    """A client that holds every answer against the contract, and keeps it."""

    def __init__(self, origin: str) -> None:
        super().__init__(f"{origin}/v1")
        self.exchanges: list[Exchange] = []

    def send(self, call: Call, connection: HTTPConnection | None = None, seconds: float = SECONDS) -> Answer:
        answer = super().send(call, connection, seconds)
        self.exchanges.append((f"{call.method} {call.target}", answer))
        self.check(call, answer)
        return answer

    def journal(self) -> Any:
        """Return what the emulator noted of the conversation, without the host's times and ports."""
        of_the_host = ("arrived_at", "duration_ms", "wait_ms", "connection")
        return [
            {name: value for name, value in entry.items() if name not in of_the_host}
            for entry in self.told("GET", "/requests")["data"]
        ]


@contextmanager
def recording(*options: str) -> Iterator[Recorder]:
    """Serve, with links in which a free port does not show."""
    with serving("--public-url", f"http://{HOST}", *options) as emulator:
        yield Recorder(emulator.url)


def bring_in(client: Client) -> Things:
    """Upload a picture of every format, and make a Product of some."""
    asset_ids = [client.upload(photo(kind, (320, 240)), kind)["id"] for kind in CONTENT_TYPES]
    return Things(asset_ids, client.product(*asset_ids[:3]), session={}, token="", operation={}, generation={})


def order_work(client: Client, things: Things) -> list[str]:
    """Order work of every kind, and return the paths to poll."""
    calls = [CALLS[name](things) for name, status in SUCCESSES.items() if status == 202]
    shots: Json = {"product_ids": [things.product["id"]], "image_count": 2, "background": {"type": "transparent"}}
    works = [*map(client.send, calls), client.photograph(**shots, output_format="webp")]
    assert {work.status for work in works} == {202}, works
    return [f"/{work.json['object']}s/{work.id}" for work in works]


def provoke(recorder: Recorder, things: Things) -> None:
    product = f"/products/{things.product['id']}"
    recorder.get("/team", None)
    recorder.post("/products", {}, idempotency_key=None)
    for key in ("iwe_demo_expired", "iwe_demo_revoked", "nobody's"):
        recorder.get("/team", key=key)
    recorder.delete(product, key="iwe_demo_read")
    recorder.get(product, key="iwe_other_full")
    recorder.send(Call("PUT", "/team"))
    for path in ("/nowhere", "/assets?after=none", "/assets?limit=0&colour=red"):
        recorder.get(path)
    for body in ({}, {"name": "", "asset_ids": [], "primary_asset_id": 7}, {"name": "x", "extra": None}, [1, {"b": 2}]):
        recorder.post("/products", body)
    recorder.post("/products", {"name": "Lost", "asset_ids": ["ast_none"], "primary_asset_id": "ast_none"})
    recorder.post("/generations/product-photography", {"output_mode": "photoshoot", "image_count": 3})
    recorder.upscale(things.asset_ids[0], key="iwe_other_full")
    recorder.post("/uploads", UPLOAD, key="iwe_lapsed_full")


def hurry(recorder: Recorder, things: Things) -> None:
    while recorder.get("/team", key="iwe_other_full").status == 200:
        pass
    assert recorder.get("/team", key="iwe_other_full").status == 200
    style = CALLS["createPhotographyStyle"](things)
    while (work := recorder.send(style)).status == 202:
        pass
    assert work.json["code"] == "concurrency_limit_reached", work
    assert recorder.send(style).status == 202


def replay(recorder: Recorder, things: Things) -> None:
    """Use one key three times: the same intent twice, then another."""
    body = {"name": "Twice", "asset_ids": things.asset_ids[:2], "primary_asset_id": things.asset_ids[0]}
    first = recorder.post("/products", body, idempotency_key="used again")
    second = recorder.post("/products", dict(reversed(body.items())), idempotency_key="used again")
    assert second == first
    assert recorder.post("/products", {**body, "name": "Other"}, idempotency_key="used again").status == 422


def meet_faults(recorder: Recorder, things: Things) -> list[str]:
    """Let a scenario begin, and run into its rules; return the paths of what was accepted."""
    recorder.use(FAULTS)
    creation = replace(CALLS["createProduct"](things), idempotency_key="unlucky")
    statuses = [recorder.send(creation).status for _ in range(3)]
    assert statuses == [503, 500, 201], statuses  # refused; admitted, and the answer lost; told again
    photoshoot = recorder.photograph(product_ids=[things.product["id"]], output_mode="photoshoot")
    works = [photoshoot, *(recorder.upscale(things.asset_ids[0]) for _ in range(4))]
    assert {work.status for work in works} == {202}, works
    return [f"/generations/{work.id}" for work in works]


def poll(client: Client, paths: list[str]) -> None:
    for path in paths:
        for _ in range(20):
            if client.get(path).json["status"] in TERMINAL:
                break
        else:
            raise AssertionError(f"{path} does not end")


def read_everything(client: Client) -> list[Any]:
    return [client.get("/team").json, *(client.items(path, limit=3) for path in LISTS)]


def download_everything(client: Client) -> list[bytes]:
    shown = [
        (resource.get("url"), resource.get("card_image_url"), *resource.get("preview_image_urls", []))
        for path in LISTS
        for resource in client.items(path)
    ]
    files = [client.fetch(url) for urls in shown for url in urls if url]
    assert {200} >= {file.status for file in files}
    return [file.body for file in files]


def delete_some(recorder: Recorder, things: Things) -> None:
    asset, product = f"/assets/{things.asset_ids[1]}", f"/products/{things.product['id']}"
    link = recorder.get(asset).json["url"]
    recorder.delete(asset)
    recorder.delete(asset)
    recorder.fetch(link)
    recorder.get(product)
    recorder.delete(product)


Begun = tuple[Things, list[str], str]
"""What the second half of the conversation goes on with: the paths of work that is not done yet, and a cursor."""


def begin(recorder: Recorder) -> Begun:
    things = bring_in(recorder)
    work = order_work(recorder, things)
    provoke(recorder, things)
    hurry(recorder, things)
    replay(recorder, things)
    recorder.advance(60)
    work += meet_faults(recorder, things)
    return things, work, recorder.get("/assets?limit=2").json["page"]["next_cursor"]


def go_on(recorder: Recorder, begun: Begun) -> None:
    things, work, cursor = begun
    recorder.get(f"/assets?limit=2&after={cursor}")
    replay(recorder, things)
    poll(recorder, work)
    recorder.advance(3600)
    assert recorder.post("/uploads", UPLOAD).status == 503
    recorder.advance(3600)
    recorder.told("GET", "/scenario")
    read_everything(recorder)
    download_everything(recorder)
    late = recorder.open_upload(10)
    recorder.advance(901)
    assert recorder.send_bytes(late, b"0123456789").status == 410
    delete_some(recorder, things)
    recorder.told("POST", "/clock/advance", {"until_idle": True})
    read_everything(recorder)

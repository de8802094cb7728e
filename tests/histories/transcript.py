"""One long conversation with the emulator, written down to the last byte.

It goes through everything that could let two runs differ: identifiers, signatures, tokens, cursors, ETags, timestamps,
pictures, order of headers, texts of errors, replays, faults by scenario, the journal, and jumps of the clock. What it
sends depends only on what it was answered. Under an `auto` or `manual` clock the same emulator must give the same
transcript.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from typing import Any, TypeVar

from image_workflow_emulator.imaging.normalize import CONTENT_TYPES
from tests.support.emulator_client import HOST, LISTS, TERMINAL, Answer, Call, Client, Json
from tests.support.pictures import photo
from tests.support.served import serving
from tests.support.served_client import SECONDS, ServedClient

PUBLIC_URL = f"http://{HOST}"
"""How links start, so that a free port does not show in them: `serve --public-url`."""

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

Result = TypeVar("Result")


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

    def moved_to(self, origin: str) -> "Recorder":
        """Save the state and load it into another server; return who goes on there, with nothing recorded yet."""
        other = Recorder(origin)
        other.keys_used = self.keys_used
        other.told("PUT", "/state", content=self.ask("GET", "/state").body)
        self.exchanges.clear()
        other.exchanges.clear()
        return other


@dataclass(frozen=True, slots=True)
class Library:
    assets: list[str]
    product: str


def bring_in(client: Client) -> Library:
    assets = [
        client.upload(photo(content_type, (320, 240), f"rgb({40 * number}, 90, 60)"), content_type)["id"]
        for number, content_type in enumerate(CONTENT_TYPES)
    ]
    body = {"name": "Mug", "description": "Blue", "asset_ids": assets[:3], "primary_asset_id": assets[1]}
    return Library(assets, client.post("/products", body).id)


def order_work(client: Client, library: Library) -> list[str]:
    first, second, third, fourth, fifth = library.assets
    photoshoot = {
        "product_ids": [library.product],
        "asset_ids": [fourth],
        "output_mode": "photoshoot",
        "aspect_ratio": "3:4",
        "output_format": "jpeg",
        "colorway": {"name": "Mint", "hex": "98FF98"},
    }
    shots = {
        "product_ids": [library.product],
        "output_mode": "single_shots",
        "image_count": 2,
        "background": {"type": "transparent"},
        "output_format": "webp",
    }
    edit = {"asset_ids": [first, fifth], "instructions": "Swap them", "aspect_ratio": "21:9", "resolution": "2k"}
    orders: list[tuple[str, Json]] = [
        ("/photography-styles", {"name": "Calm", "asset_ids": [first, second, third]}),
        ("/backgrounds", {"name": "Hall", "kind": "location", "asset_id": fourth}),
        ("/poses", {"name": "Seated", "asset_id": fifth}),
        ("/fashion-models", {"name": "Kim", "age_range": "35-45", "gender": "male", "asset_ids": [first, second]}),
        ("/generations/product-photography", photoshoot),
        ("/generations/product-photography", shots),
        ("/generations/edit-images", {**edit, "output_format": "png"}),
        ("/generations/upscale", {"asset_id": third, "target_resolution": "2k", "output_format": "jpeg"}),
    ]
    paths = []
    for path, body in orders:
        work = client.post(path, body)
        assert work.status == 202, work
        paths.append(f"/{work.json['object']}s/{work.id}")
    return paths


def provoke(recorder: Recorder, library: Library) -> None:
    recorder.get("/team", None)
    recorder.post("/products", {}, idempotency_key=None)
    for key in ("iwe_demo_expired", "iwe_demo_revoked", "nobody's"):
        recorder.get("/team", key=key)
    recorder.delete(f"/products/{library.product}", key="iwe_demo_read")
    recorder.get(f"/products/{library.product}", key="iwe_other_full")
    recorder.send(Call("PUT", "/team"))
    recorder.get("/nowhere")
    recorder.get("/assets?after=none")
    recorder.get("/assets?limit=0&colour=red")
    for body in ({}, {"name": "", "asset_ids": [], "primary_asset_id": 7}, {"name": "x", "extra": None}, [1, {"b": 2}]):
        recorder.post("/products", body)
    recorder.post("/products", {"name": "Lost", "asset_ids": ["ast_none"], "primary_asset_id": "ast_none"})
    recorder.post("/generations/product-photography", {"output_mode": "photoshoot", "image_count": 3})
    upscale = {"asset_id": library.assets[0], "target_resolution": "2k", "output_format": "png"}
    recorder.post("/generations/upscale", upscale, key="iwe_other_full")
    recorder.post("/uploads", {"content_type": "image/png", "size_bytes": 1}, key="iwe_lapsed_full")


def hurry(recorder: Recorder, library: Library) -> None:
    while recorder.get("/team", key="iwe_other_full").status == 200:
        pass
    assert recorder.get("/team", key="iwe_other_full").status == 200
    style = {"name": "One of many", "asset_ids": library.assets[:3]}
    while (work := recorder.post("/photography-styles", style)).status == 202:
        pass
    assert work.json["code"] == "concurrency_limit_reached", work
    assert recorder.post("/photography-styles", style).status == 202


def replay(recorder: Recorder, library: Library) -> None:
    """Use one key three times: the same intent twice, then another."""
    body = {"name": "Twice", "asset_ids": library.assets[:2], "primary_asset_id": library.assets[0]}
    first = recorder.post("/products", body, idempotency_key="used again")
    second = recorder.post("/products", dict(reversed(body.items())), idempotency_key="used again")
    assert second == first
    assert recorder.post("/products", {**body, "name": "Other"}, idempotency_key="used again").status == 422


def meet_faults(recorder: Recorder, library: Library) -> list[str]:
    """Let a scenario begin, and run into its rules; return the paths of what was accepted."""
    recorder.use(FAULTS)
    body = {"name": "Unlucky", "asset_ids": library.assets[:2], "primary_asset_id": library.assets[0]}
    statuses = [recorder.post("/products", body, idempotency_key="unlucky").status for _ in range(3)]
    assert statuses == [503, 500, 201], statuses  # refused; admitted, and the answer lost; told again
    photoshoot = {"product_ids": [library.product], "output_mode": "photoshoot"}
    upscale = {"asset_id": library.assets[0], "target_resolution": "2k", "output_format": "jpeg"}
    orders = [("/generations/product-photography", photoshoot), *[("/generations/upscale", upscale)] * 4]
    works = [recorder.post(path, order) for path, order in orders]
    assert {work.status for work in works} == {202}, works
    return [f"/generations/{work.json['id']}" for work in works]


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


def delete_some(recorder: Recorder, library: Library) -> None:
    link = recorder.get(f"/assets/{library.assets[1]}").json["url"]
    recorder.delete(f"/assets/{library.assets[1]}")
    recorder.delete(f"/assets/{library.assets[1]}")
    recorder.fetch(link)
    recorder.get(f"/products/{library.product}")
    recorder.delete(f"/products/{library.product}")


@dataclass(frozen=True, slots=True)
class Begun:
    """What the second half of the conversation goes on with."""

    library: Library
    work: list[str]
    """The paths of work that is not done yet."""
    cursor: str
    """The first page of the Assets."""


def begin(recorder: Recorder) -> Begun:
    library = bring_in(recorder)
    work = order_work(recorder, library)
    provoke(recorder, library)
    hurry(recorder, library)
    replay(recorder, library)
    recorder.advance(60)
    work += meet_faults(recorder, library)
    cursor = recorder.get("/assets?limit=2").json["page"]["next_cursor"]
    return Begun(library, work, cursor)


def go_on(recorder: Recorder, begun: Begun) -> None:
    library = begun.library
    recorder.get(f"/assets?limit=2&after={begun.cursor}")
    replay(recorder, library)
    poll(recorder, begun.work)
    recorder.advance(3600)
    assert recorder.post("/uploads", {"content_type": "image/gif", "size_bytes": 10}).status == 503
    recorder.advance(3600)
    recorder.told("GET", "/scenario")
    read_everything(recorder)
    download_everything(recorder)
    late = recorder.post("/uploads", {"content_type": "image/gif", "size_bytes": 10}).json
    recorder.advance(901)
    assert recorder.send_bytes(late, b"0123456789").status == 410
    delete_some(recorder, library)
    recorder.told("POST", "/clock/advance", {"until_idle": True})
    read_everything(recorder)


def play(origin: str) -> list[Exchange]:
    recorder = Recorder(origin)
    go_on(recorder, begin(recorder))
    return [*recorder.exchanges, journal(recorder)]


def journal(recorder: Recorder) -> Exchange:
    """Read what the emulator noted of the conversation, without the host's times and ports."""
    noted = recorder.ask("GET", "/requests")
    of_the_host = ("arrived_at", "duration_ms", "wait_ms", "connection")
    entries = [
        {name: value for name, value in entry.items() if name not in of_the_host} for entry in noted.json["data"]
    ]
    return "the journal", replace(noted, raw_headers=(), body=json.dumps(entries).encode())


def on_fresh_server(play: Callable[[str], Result], *options: str) -> Result:
    with serving("--public-url", PUBLIC_URL, *options) as emulator:
        return play(emulator.url)


def play_with_a_move() -> tuple[list[Exchange], list[Exchange]]:
    """Hold the first half here; save the state and load it into another server; hold the second half in both places.

    The second halves are returned. Request-Ids of control planes are left out: they count what a server was asked.
    """
    return on_fresh_server(
        lambda here: on_fresh_server(lambda there: _move(here, there), "--seed", "8"),
        *("--clock", "auto", "--seed", "7"),
    )


def _move(here: str, there: str) -> tuple[list[Exchange], list[Exchange]]:
    stays = Recorder(here)
    begun = begin(stays)
    moves = stays.moved_to(there)
    for recorder in (stays, moves):
        go_on(recorder, begun)
    of_here, of_there = (
        [
            (request, replace(answer, raw_headers=()) if "/_emulator/" in request else answer)
            for request, answer in recorder.exchanges
        ]
        for recorder in (stays, moves)
    )
    return of_here, of_there

"""One long conversation with the emulator, written down to the last byte.

It goes through everything that could let two runs differ: identifiers, signatures, tokens, cursors, ETags, timestamps,
pictures, order of headers, texts of errors, replays, faults by scenario, the journal, and jumps of the clock. What it
sends depends only on what it was answered. Under an `auto` or `manual` clock the same emulator must give the same transcript.
"""

import http.client
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from emulator.imaging.normalize import CONTENT_TYPES
from tests.support import contract_check
from tests.support.contract_check import shipped_checker
from tests.support.emulator_client import FULL
from tests.support.pictures import photo
from tests.support.served import EMULATOR, serving

PUBLIC_URL = "http://emulator.test"
"""How links start, so that a free port does not show in them: `serve --public-url`."""

WORK = ("/operations", "/generations")
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
COLLECTIONS = ("/assets", "/products", "/photography-styles", "/backgrounds", "/poses", "/fashion-models", *WORK)

Json = dict[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request's first line and all that was answered."""

    request: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Recorder:
    """Sends requests to one server over one connection, and keeps everything that comes back."""

    origin: str
    exchanges: list[Exchange] = field(default_factory=list)
    _keys_used: int = 0

    def send(self, method: str, target: str, body: bytes | None = None, headers: Json | None = None) -> Exchange:
        address = urlsplit(self.origin)
        with closing(http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)) as connection:
            connection.request(method, target, body, headers or {})
            answer = connection.getresponse()
            headers_received = tuple(answer.getheaders())
            exchange = Exchange(f"{method} {target}", answer.status, answer.reason, headers_received, answer.read())
        self.exchanges.append(exchange)
        if target.startswith("/v1"):
            path = target.removeprefix("/v1").partition("?")[0]
            shipped_checker().check(
                contract_check.Exchange(method, path, exchange.status, exchange.headers, exchange.body)
            )
        return exchange

    def call(
        self, method: str, path: str, body: Any = None, idempotency_key: str | None = None, key: str = FULL
    ) -> Exchange:
        headers = {"Authorization": f"Bearer {key}"}
        if method in ("POST", "PATCH"):
            self._keys_used += 1
            headers["Idempotency-Key"] = idempotency_key or f"key {self._keys_used}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        return self.send(method, f"/v1{path}", None if body is None else json.dumps(body).encode(), headers)

    def follow(self, url: str, method: str = "GET", body: bytes | None = None, headers: Json | None = None) -> Exchange:
        assert url.startswith(PUBLIC_URL), url
        return self.send(method, url.removeprefix(PUBLIC_URL), body, headers)

    def upload(self, content_type: str, data: bytes) -> str:
        """Bring a file in; return the Asset's id."""
        session = self.call("POST", "/uploads", {"content_type": content_type, "size_bytes": len(data)}).json()
        recipe = session["upload"]
        token = self.follow(recipe["url"], recipe["method"], data, recipe["headers"])
        asset = self.call("POST", f"/uploads/{session['id']}/complete", token.json())
        assert asset.status == 201, asset
        return str(asset.json()["id"])

    def control(self, method: str, path: str, body: Any = None) -> Exchange:
        content = None if body is None else json.dumps(body).encode()
        exchange = self.send(method, f"/_emulator{path}", content, {"Content-Type": "application/json"})
        assert exchange.status < 300, exchange
        return exchange

    def advance(self, **move: Any) -> Exchange:
        return self.control("POST", "/clock/advance", move)

    def next_event_at(self) -> str:
        """Return when something falls due next; a timestamp sorts as text."""
        clock = self.control("GET", "/clock").json()
        return str(clock["next_event_at"] or "never")

    def moved_to(self, origin: str) -> "Recorder":
        """Save the state and load it into another server; return who goes on there, with nothing recorded yet."""
        state = self.send("GET", "/_emulator/state")
        other = Recorder(origin, _keys_used=self._keys_used)
        loaded = other.send("PUT", "/_emulator/state", state.body, {"Content-Type": "application/zip"})
        assert (200, 200) == (state.status, loaded.status), loaded
        self.exchanges.clear()
        other.exchanges.clear()
        return other


@dataclass(frozen=True, slots=True)
class Library:
    assets: list[str]
    product: str


def bring_in(recorder: Recorder) -> Library:
    """Upload a file of each format, and group some of them."""
    assets = [
        recorder.upload(content_type, photo(content_type, (320, 240), f"rgb({40 * number}, 90, 60)"))
        for number, content_type in enumerate(CONTENT_TYPES)
    ]
    body = {"name": "Mug", "description": "Blue", "asset_ids": assets[:3], "primary_asset_id": assets[1]}
    product = recorder.call("POST", "/products", body)
    assert product.status == 201, product
    return Library(assets, product.json()["id"])


def order_work(recorder: Recorder, library: Library) -> list[str]:
    """Admit one piece of work of every type; return the paths to poll."""
    first, second, third, fourth, fifth = library.assets
    photoshoot = {
        "product_ids": [library.product], "asset_ids": [fourth], "output_mode": "photoshoot", "aspect_ratio": "3:4",
        "output_format": "jpeg", "colorway": {"name": "Mint", "hex": "98FF98"},
    }  # fmt: skip
    shots = {
        "product_ids": [library.product], "output_mode": "single_shots", "image_count": 2,
        "background": {"type": "transparent"}, "output_format": "webp",
    }  # fmt: skip
    edit = {"asset_ids": [first, fifth], "instructions": "Swap them", "aspect_ratio": "21:9", "resolution": "2k"}
    orders: list[tuple[str, Json]] = [
        ("/photography-styles", {"name": "Calm", "asset_ids": [first, second, third]}),
        ("/backgrounds", {"name": "Hall", "kind": "location", "asset_id": fourth}),
        ("/poses", {"name": "Seated", "asset_id": fifth}),
        ("/fashion-models", {"name": "Kim", "age_range": "35-45", "gender": "male", "asset_ids": [first, second]}),
        ("/generations/product-photography", photoshoot),
        ("/generations/product-photography", shots),
        ("/generations/edit-images", {**edit, "output_format": "png"}),
        ("/generations/upscale", {"asset_id": third, "target_resolution": "4k", "output_format": "jpeg"}),
    ]
    paths = []
    for path, body in orders:
        work = recorder.call("POST", path, body)
        assert work.status == 202, work
        paths.append(f"/{work.json()['object']}s/{work.json()['id']}")
    return paths


def provoke(recorder: Recorder, library: Library) -> None:
    """Make mistakes of every kind, for the words of the answers."""
    recorder.send("GET", "/v1/team")
    headers = {"Authorization": f"Bearer {FULL}", "Content-Type": "application/json"}
    recorder.send("POST", "/v1/products", b"{}", headers)
    for key in ("iwe_demo_expired", "iwe_demo_revoked", "nobody's"):
        recorder.call("GET", "/team", key=key)
    recorder.call("DELETE", f"/products/{library.product}", key="iwe_demo_read")
    recorder.call("GET", f"/products/{library.product}", key="iwe_other_full")
    recorder.call("PUT", "/team")
    recorder.call("GET", "/nowhere")
    recorder.call("GET", "/assets?after=none")
    recorder.call("GET", "/assets?limit=0&colour=red")
    for body in ({}, {"name": "", "asset_ids": [], "primary_asset_id": 7}, {"name": "x", "extra": None}, [1, {"b": 2}]):
        recorder.call("POST", "/products", body)
    recorder.call("POST", "/products", {"name": "Lost", "asset_ids": ["ast_none"], "primary_asset_id": "ast_none"})
    recorder.call("POST", "/generations/product-photography", {"output_mode": "photoshoot", "image_count": 3})
    upscale = {"asset_id": library.assets[0], "target_resolution": "2k", "output_format": "png"}
    recorder.call("POST", "/generations/upscale", upscale, key="iwe_other_full")
    recorder.call("POST", "/uploads", {"content_type": "image/png", "size_bytes": 1}, key="iwe_lapsed_full")


def hurry(recorder: Recorder, library: Library) -> None:
    """Send more requests than a minute allows, and more work than the budget has places for."""
    while recorder.call("GET", "/team", key="iwe_other_full").status == 200:
        pass
    assert recorder.call("GET", "/team", key="iwe_other_full").status == 200
    style = {"name": "One of many", "asset_ids": library.assets[:3]}
    while (work := recorder.call("POST", "/photography-styles", style)).status == 202:
        pass
    assert work.json()["code"] == "concurrency_limit_reached", work
    assert recorder.call("POST", "/photography-styles", style).status == 202


def replay(recorder: Recorder, library: Library) -> None:
    """Use one key three times: the same intent twice, then another."""
    body = {"name": "Twice", "asset_ids": library.assets[:2], "primary_asset_id": library.assets[0]}
    first = recorder.call("POST", "/products", body, "used again")
    second = recorder.call("POST", "/products", {**body, "asset_ids": library.assets[1::-1]}, "used again")
    assert (second.status, second.headers, second.body) == (first.status, first.headers, first.body)
    assert recorder.call("POST", "/products", {**body, "name": "Other"}, "used again").status == 422


def meet_faults(recorder: Recorder, library: Library) -> list[str]:
    """Let a scenario begin, and run into its rules; return the paths of what was accepted."""
    recorder.control("PUT", "/scenario", FAULTS)
    body = {"name": "Unlucky", "asset_ids": library.assets[:2], "primary_asset_id": library.assets[0]}
    statuses = [recorder.call("POST", "/products", body, "unlucky").status for _ in range(3)]
    assert statuses == [503, 500, 201], statuses  # refused; admitted, and the answer lost; told again
    photoshoot = {"product_ids": [library.product], "output_mode": "photoshoot"}
    upscale = {"asset_id": library.assets[0], "target_resolution": "2k", "output_format": "jpeg"}
    orders = [("/generations/product-photography", photoshoot), *[("/generations/upscale", upscale)] * 4]
    works = [recorder.call("POST", path, order) for path, order in orders]
    assert {work.status for work in works} == {202}, works
    return [f"/generations/{work.json()['id']}" for work in works]


def poll(recorder: Recorder, paths: list[str]) -> None:
    """Poll work until it is done, as an `auto` clock allows without a wait."""
    for path in paths:
        for _ in range(20):
            if recorder.call("GET", path).json()["status"] in ("completed", "failed"):
                break
        else:
            raise AssertionError(f"{path} does not end")


def read_everything(recorder: Recorder) -> Iterator[Exchange]:
    """Read every collection page by page, and the Team."""
    yield recorder.call("GET", "/team")
    for path in COLLECTIONS:
        after = ""
        while True:
            page = recorder.call("GET", f"{path}?limit=3{after}")
            yield page
            if not page.json()["page"]["has_more"]:
                break
            after = f"&after={page.json()['page']['next_cursor']}"


def download_everything(recorder: Recorder) -> Iterator[Exchange]:
    """Download the file behind every link that a collection shows."""
    for path in COLLECTIONS:
        for resource in recorder.call("GET", f"{path}?limit=100").json()["data"]:
            shown = [resource.get("url"), resource.get("card_image_url"), *resource.get("preview_image_urls", [])]
            for url in filter(None, shown):
                picture = recorder.follow(url)
                assert picture.status == 200, picture
                yield picture


def delete_some(recorder: Recorder, library: Library) -> None:
    """Delete an Asset with its memberships, a Product, and what is not there."""
    link = recorder.call("GET", f"/assets/{library.assets[1]}").json()["url"]
    recorder.call("DELETE", f"/assets/{library.assets[1]}")
    recorder.call("DELETE", f"/assets/{library.assets[1]}")
    recorder.follow(link)
    recorder.call("GET", f"/products/{library.product}")
    recorder.call("DELETE", f"/products/{library.product}")


@dataclass(frozen=True, slots=True)
class Begun:
    """What the second half of the conversation goes on with."""

    library: Library
    work: list[str]
    """The paths of work that is not done yet."""
    cursor: str
    """Of the first page of the Assets."""


def begin(recorder: Recorder) -> Begun:
    """Hold the first half of the conversation with a fresh server: nothing that was ordered is waited for."""
    library = bring_in(recorder)
    work = order_work(recorder, library)
    provoke(recorder, library)
    hurry(recorder, library)
    replay(recorder, library)
    recorder.advance(seconds=60)
    work += meet_faults(recorder, library)
    cursor = recorder.call("GET", "/assets?limit=2").json()["page"]["next_cursor"]
    return Begun(library, work, cursor)


def go_on(recorder: Recorder, begun: Begun) -> None:
    """Hold the second half, until nothing happens any more."""
    library = begun.library
    recorder.call("GET", f"/assets?limit=2&after={begun.cursor}")
    replay(recorder, library)
    poll(recorder, begun.work)
    recorder.advance(seconds=3600)
    assert recorder.call("POST", "/uploads", {"content_type": "image/gif", "size_bytes": 10}).status == 503
    recorder.advance(seconds=3600)
    recorder.control("GET", "/scenario")
    list(read_everything(recorder))
    list(download_everything(recorder))
    late = recorder.call("POST", "/uploads", {"content_type": "image/gif", "size_bytes": 10}).json()
    recorder.advance(seconds=901)
    assert recorder.follow(late["upload"]["url"], "POST", b"0123456789", late["upload"]["headers"]).status == 410
    delete_some(recorder, library)
    recorder.advance(until_idle=True)
    list(read_everything(recorder))


def play(origin: str) -> list[Exchange]:
    """Hold the whole conversation with a fresh server under an `auto` clock."""
    recorder = Recorder(origin)
    go_on(recorder, begin(recorder))
    return [*recorder.exchanges, journal(recorder)]


def journal(recorder: Recorder) -> Exchange:
    """Read what the emulator noted of the conversation; how long things took is left out, as it is the host's time."""
    noted = recorder.control("GET", "/requests")
    entries = [
        {name: value for name, value in entry.items() if name not in ("arrived_at", "duration_ms", "wait_ms")}
        for entry in noted.json()["data"]
    ]
    return replace(noted, headers=(), body=json.dumps(entries).encode())


def on_fresh_server(play: Callable[[str], Result], *options: str, python: str = sys.executable) -> Result:
    """Start a server of an interpreter, hold a conversation with it, stop it."""
    with serving("--public-url", PUBLIC_URL, *options, program=(python, *EMULATOR[1:])) as emulator:
        return play(emulator.url)


def play_with_a_move(python: str = sys.executable) -> tuple[list[Exchange], list[Exchange]]:
    """Hold the first half here; save the state and load it into a server of an interpreter; hold the second half in both places.

    The second halves are returned. Request-Ids of control planes are left out: they count what a server was asked.
    """
    return on_fresh_server(
        lambda here: on_fresh_server(lambda there: _move(here, there), "--seed", "8", python=python),
        *("--clock", "auto", "--seed", "7"),
    )


def _move(here: str, there: str) -> tuple[list[Exchange], list[Exchange]]:
    stays = Recorder(here)
    begun = begin(stays)
    moves = stays.moved_to(there)
    for recorder in (stays, moves):
        go_on(recorder, begun)
    of_here, of_there = (
        [replace(each, headers=()) if "/_emulator/" in each.request else each for each in recorder.exchanges]
        for recorder in (stays, moves)
    )
    return of_here, of_there

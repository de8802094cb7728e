"""Whatever follows from seed, start and requests is the same, byte for byte.

One long conversation goes through everything that could let two runs differ:
identifiers, signatures, tokens, cursors, ETags, timestamps, pictures, order of headers,
texts of errors, replays, faults by scenario, the journal, and jumps of the clock. What
it sends depends only on what it was answered. And one history goes in several gaits:
how the clock was moved, and who looked when, leaves no trace in what comes to be.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from typing import Any

from image_workflow_emulator.imaging.normalize import CONTENT_TYPES
from tests.support.emulator_client import (
    HOST,
    LISTS,
    TERMINAL,
    UPLOAD,
    Answer,
    Call,
    Client,
    Json,
    MakeEmulator,
)
from tests.support.every_operation import CALLS, SUCCESSES, Things
from tests.support.pictures import photo
from tests.support.served import serving
from tests.support.served_client import SECONDS, ServedClient

CREATION = {"operation": "createProduct"}
FAULTS = {
    "scenario": "faults of the transcript",
    "rules": [
        {
            "match": CREATION,
            "when": {"nth": "1"},
            "then": {"problem": "service_unavailable"},
        },
        {
            "match": CREATION,
            "when": {"nth": "1"},
            "then": {"problem": "internal_error", "at": "after_commit"},
        },
        {
            "match": {"work": "product_photography"},
            "then": {"outputs": {"1": "content_rejected", "3": "timed_out"}},
        },
        {
            "match": {"work": "upscale"},
            "when": {"probability": 0.5},
            "then": {"fail": "processing_failed"},
        },
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

    def send(
        self,
        call: Call,
        connection: HTTPConnection | None = None,
        seconds: float = SECONDS,
    ) -> Answer:
        answer = super().send(call, connection, seconds)
        self.exchanges.append((f"{call.method} {call.target}", answer))
        self.check(call, answer)
        return answer

    def journal(self) -> Any:
        """Return what the emulator noted of the conversation, without the host's times
        and ports.
        """
        of_the_host = ("arrived_at", "duration_ms", "wait_ms", "connection")
        return [
            {name: value for name, value in entry.items() if name not in of_the_host}
            for entry in self.told("GET", "/requests")["data"]
        ]


@contextmanager
def recording(*options: str) -> Iterator[Recorder]:
    with serving("--public-url", f"http://{HOST}", *options) as emulator:
        yield Recorder(emulator.url)


def bring_in(client: Client) -> Things:
    asset_ids = [
        client.upload(photo(kind, (320, 240)), kind)["id"] for kind in CONTENT_TYPES
    ]
    return Things(
        asset_ids,
        client.product(*asset_ids[:3]),
        session={},
        token="",
        operation={},
        generation={},
    )


def order_work(client: Client, things: Things) -> list[str]:
    calls = [CALLS[name](things) for name, status in SUCCESSES.items() if status == 202]
    shots: Json = {
        "product_ids": [things.product["id"]],
        "image_count": 2,
        "background": {"type": "transparent"},
    }
    works = [*map(client.send, calls), client.photograph(**shots, output_format="webp")]
    assert {work.status for work in works} == {202}, works
    return [f"/{work.json['object']}s/{work.id}" for work in works]


def provoke(recorder: Recorder, things: Things) -> None:
    product = f"/products/{things.product['id']}"
    recorder.get("/team", key="iwe_demo_expired")
    recorder.delete(product, key="iwe_demo_read")
    recorder.get(product, key="iwe_other_full")
    recorder.send(Call("PUT", "/team"))
    for path in ("/nowhere", "/assets?limit=0&colour=red"):
        recorder.get(path)
    recorder.post(
        "/products",
        {"name": "", "asset_ids": [], "primary_asset_id": 7, "extra": None},
    )
    recorder.post(
        "/products",
        {"name": "Lost", "asset_ids": ["ast_none"], "primary_asset_id": "ast_none"},
    )
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
    body = {
        "name": "Twice",
        "asset_ids": things.asset_ids[:2],
        "primary_asset_id": things.asset_ids[0],
    }
    first = recorder.post("/products", body, idempotency_key="used again")
    second = recorder.post(
        "/products",
        dict(reversed(body.items())),
        idempotency_key="used again",
    )
    other = recorder.post(
        "/products",
        {**body, "name": "Other"},
        idempotency_key="used again",
    )
    assert second == first
    assert other.status == 422


def meet_faults(recorder: Recorder, things: Things) -> list[str]:
    """Let a scenario begin, and run into its rules; return the paths of what was
    accepted.
    """
    recorder.use(FAULTS)
    creation = replace(CALLS["createProduct"](things), idempotency_key="unlucky")
    statuses = [recorder.send(creation).status for _ in range(3)]
    # Refused; admitted, and the answer lost; the answer replayed.
    assert statuses == [503, 500, 201]
    photoshoot = recorder.photograph(
        product_ids=[things.product["id"]],
        output_mode="photoshoot",
    )
    works = [photoshoot, *(recorder.upscale(things.asset_ids[0]) for _ in range(4))]
    assert {work.status for work in works} == {202}, works
    return [f"/generations/{work.id}" for work in works]


def poll(client: Client, paths: list[str]) -> None:
    for path in paths:
        has_ended = any(client.get(path).json["status"] in TERMINAL for _ in range(20))
        assert has_ended, path


def read_everything(client: Client) -> list[Any]:
    return [client.get("/team").json, *(client.items(path, limit=3) for path in LISTS)]


def download_everything(client: Client) -> list[bytes]:
    files = [client.fetch(url) for url in urls_of_everything(client)]
    for file in files:
        assert file.status == 200
    return [file.body for file in files]


def urls_of_everything(client: Client) -> list[str]:
    """Return the URLs of the pictures of every Asset and ingredient."""
    urls: list[str] = []
    for path in LISTS:
        for resource in client.items(path):
            if "url" in resource:
                urls.append(resource["url"])
            if "card_image_url" in resource:
                urls.append(resource["card_image_url"])
            urls += resource.get("preview_image_urls", [])
    return urls


def delete_some(recorder: Recorder, things: Things) -> None:
    asset = f"/assets/{things.asset_ids[1]}"
    product = f"/products/{things.product['id']}"
    link = recorder.get(asset).json["url"]
    recorder.delete(asset)
    recorder.delete(asset)
    recorder.fetch(link)
    recorder.get(product)
    recorder.delete(product)


Begun = tuple[Things, list[str], str]
"""What the second half of the conversation goes on with: the paths of work that is not
done yet, and a cursor."""


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


END = "2026-01-01T00:01:00.000Z"
"""When all work of the transcript is done, counted from the start of a clock that
stands still."""
SEEDED = ("--clock", "auto", "--seed", "7")


def of_the_service(recorder: Recorder) -> list[Exchange]:
    """What was answered, without the Request-Ids of the control plane, which count what
    a server was asked.
    """
    return [
        (
            request,
            replace(answer, raw_headers=()) if "/_emulator/" in request else answer,
        )
        for request, answer in recorder.exchanges
    ]


STATUSES = {200, 201, 202, 204, 400, 401, 403, 404, 405, 410, 422, 429, 500, 503}
"""What the whole conversation is answered with."""


def test_a_twin_and_a_process_that_goes_on_from_a_saved_state_say_the_same_bytes() -> (
    None
):
    with (
        recording(*SEEDED) as recorder,
        recording(*SEEDED) as twin,
        recording("--seed", "8") as successor,
    ):
        with ThreadPoolExecutor(2) as both:
            begun, _ = both.map(begin, (recorder, twin))
        assert_equal(recorder.exchanges, twin.exchanges)
        assert recorder.journal() == twin.journal()

        successor.told("PUT", "/state", content=recorder.ask("GET", "/state").body)
        successor.keys_used = recorder.keys_used
        successor.exchanges.clear()
        first_half = len(recorder.exchanges)
        with ThreadPoolExecutor(2) as both:
            list(both.map(lambda each: go_on(each, begun), (recorder, successor)))
        second_half = of_the_service(recorder)[first_half:]
        assert_equal(second_half, of_the_service(successor))

    # So the conversation was one that could have told a difference.
    statuses = [answer.status for _, answer in recorder.exchanges]
    assert STATUSES <= set(statuses)
    of_the_scenario = [status for status in statuses if status >= 500]
    assert of_the_scenario == [503, 500, 503]
    assert first_half > 100
    assert len(second_half) > 100


def assert_equal(exchanges: list[Exchange], expected: list[Exchange]) -> None:
    """One by one, so that a failure shows the first difference."""
    for exchange, expected_exchange in zip(exchanges, expected, strict=True):
        assert exchange == expected_exchange


def test_another_seed_gives_other_identifiers_and_links(
    make_emulator: MakeEmulator,
) -> None:
    poses = make_emulator(seed=7).items("/poses")
    other_poses = make_emulator(seed=8).items("/poses")

    for pose, other_pose in zip(poses, other_poses, strict=True):
        assert pose["name"] == other_pose["name"]
        assert pose["id"] != other_pose["id"]
        assert pose["card_image_url"] != other_pose["card_image_url"]


Gait = Callable[[Client, list[str]], None]


def at_once(client: Client, paths: list[str]) -> None:
    """Go straight to the end, which every gait does at last."""


def many_advances(client: Client, paths: list[str]) -> None:
    for _ in range(300):
        client.told("POST", "/clock/advance", {"seconds": 0.1})


def event_by_event_with_a_look_at_everything(client: Client, paths: list[str]) -> None:
    while has_event_before_the_end(client):
        client.told("POST", "/clock/advance", {"next_event": True})
        for path in paths:
            client.get(path)


def has_event_before_the_end(client: Client) -> bool:
    next_event_at = client.told("GET", "/clock")["next_event_at"]
    if next_event_at is None:
        return False
    return bool(next_event_at <= END)  # timestamps sort as texts


def polls_that_take_their_waits(client: Client, paths: list[str]) -> None:
    poll(client, paths[::-1])


def test_any_gait_of_the_clock_makes_the_resources_that_one_advance_makes(
    make_emulator: MakeEmulator,
) -> None:
    def history(gait: Gait, clock: str = "manual") -> list[Any]:
        """Order work, let time pass in some gait, and return all that there is then,
        pictures included.
        """
        emulator = make_emulator(clock=clock, rate_limits=False)
        gait(emulator, order_work(emulator, bring_in(emulator)))
        emulator.told("POST", "/clock/advance", {"to": END})
        return [*read_everything(emulator), *download_everything(emulator)]

    expected = history(at_once)
    for gait in (many_advances, event_by_event_with_a_look_at_everything):
        assert history(gait) == expected
    assert history(polls_that_take_their_waits, "auto") == expected

"""The tests of the client. Each has a sandbox of its own, from the fixture `image_workflow` of the emulator's pytest
plugin.

They hold under a sweep too: they count what was wanted or refused, not how often it was sent.
"""

import threading
import time
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from image_workflow_client import (
    NEW_SESSION_CODES,
    PHOTOSHOOT,
    ImageWorkflow,
    Refused,
    Unfinished,
    WorkFailed,
)

from image_workflow_emulator.testing import RecordedRequest, Sandbox

PHOTO = (Path(__file__).parent / "photo.png").read_bytes()
GENERATE = "createProductPhotographyGeneration"


@pytest.fixture
def client(
    image_workflow: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[ImageWorkflow]:
    """The client, whose pauses move the emulator's clock instead of taking time."""
    monkeypatch.setattr(time, "sleep", image_workflow.clock.advance)
    with ImageWorkflow(image_workflow.base_url, image_workflow.api_key) as client:
        yield client


def make_product(client: ImageWorkflow) -> str:
    asset = client.upload(PHOTO, "image/png")
    return str(client.create_product("Linen shirt", [asset["id"]])["id"])


def statuses(sandbox: Sandbox, operation: str) -> list[int | None]:
    """How the requests of one operation ended, in their order."""
    return [request.status for request in sandbox.requests(operation=operation)]


def refusals(sandbox: Sandbox, code: str) -> list[RecordedRequest]:
    """The requests that were refused with a code, as far as the client heard of it."""
    return [
        request
        for request in sandbox.requests(code=code)
        if not (request.lost or request.note)
    ]


def keys(sandbox: Sandbox, operation: str) -> set[str | None]:
    return {
        request.idempotency_key for request in sandbox.requests(operation=operation)
    }


def charged(client: ImageWorkflow) -> int:
    """The Credits that all Generations were charged."""
    return sum(
        work["credits"]["charged"]
        for work in client.request("GET", "/generations")["data"]
    )


# What it is for -------------------------------------------------------------------------------------------------------


def test_a_photoshoot_brings_four_pictures_for_its_price(
    image_workflow: Sandbox,
    client: ImageWorkflow,
) -> None:
    before = image_workflow.team("Demo").credits
    pictures = client.photoshoot([make_product(client)], output_format="webp")
    assert len(pictures) == 4
    assert all(client.download(picture)[8:12] == b"WEBP" for picture in pictures)
    assert before - image_workflow.team("Demo").credits == charged(client)


@pytest.mark.image_workflow(
    readings="plain"
)  # under others a hint may be half of the truth, or missing
@pytest.mark.image_workflow(clock="manual")
def test_it_polls_no_sooner_than_retry_after_says(
    image_workflow: Sandbox,
    client: ImageWorkflow,
) -> None:
    client.photoshoot([make_product(client)])
    looks = [
        look
        for look in image_workflow.requests(operation="getGeneration")
        if not (look.lost or look.note)
    ]
    for look, following in pairwise(looks):
        assert waited_seconds(look, following) >= int(
            look.response_headers.get("retry-after", 0)
        )
    assert len(looks) <= 8


@pytest.mark.image_workflow(scenario="some-outputs-fail")
def test_it_returns_the_outputs_that_were_completed(client: ImageWorkflow) -> None:
    assert len(client.photoshoot([make_product(client)])) == 2


@pytest.mark.image_workflow(scenario="all-outputs-fail")
def test_a_photoshoot_without_any_picture_is_an_error(
    image_workflow: Sandbox,
    client: ImageWorkflow,
) -> None:
    with pytest.raises(WorkFailed):
        client.photoshoot([make_product(client)])
    assert image_workflow.team("Demo").credits == 100


def test_it_orders_in_full_what_the_service_may_not_fill_in(
    image_workflow: Sandbox,
    client: ImageWorkflow,
) -> None:
    client.photoshoot([make_product(client)])
    assert all(
        PHOTOSHOOT.items() <= order.request_body.items()
        for order in image_workflow.requests(operation=GENERATE)
    )


def test_a_picture_is_fetched_from_where_its_address_leads(
    client: ImageWorkflow,
) -> None:
    asset = client.upload(PHOTO, "image/png")

    class Mover(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", asset["url"])
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Mover) as mover:
        threading.Thread(target=mover.serve_forever, daemon=True).start()
        moved = asset | {"url": f"http://127.0.0.1:{mover.server_port}/"}
        assert client.download(moved) == client.download(asset)
        mover.shutdown()


# What goes wrong, and is mended ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", ["answer-lost", "internal-error"])
def test_a_lost_answer_is_asked_for_again_and_not_paid_twice(
    image_workflow: Sandbox,
    client: ImageWorkflow,
    scenario: str,
) -> None:
    product = make_product(client)
    before = image_workflow.team("Demo").credits
    image_workflow.use(scenario)
    assert len(client.photoshoot([product])) == 4
    assert len(keys(image_workflow, GENERATE)) == 1
    assert before - image_workflow.team("Demo").credits == charged(client)


@pytest.mark.image_workflow(scenario="same-key-in-flight")
def test_a_request_that_is_still_being_admitted_is_waited_for(
    image_workflow: Sandbox,
    client: ImageWorkflow,
) -> None:
    product = make_product(client)
    with ImageWorkflow(
        image_workflow.base_url,
        image_workflow.api_key,
        timeout=0.5,
    ) as hasty:
        assert len(hasty.photoshoot([product])) == 4
    assert len(statuses(image_workflow, GENERATE)) > 1
    assert len(keys(image_workflow, GENERATE)) == 1


@pytest.mark.image_workflow(clock="manual")
@pytest.mark.image_workflow(
    readings="plain"
)  # under others a 503 may not say how long, or a photoshoot may never fit
@pytest.mark.parametrize(
    ("scenario", "code"),
    [
        ("rate-limited", "rate_limited"),
        ("concurrency-budget-exhausted", "concurrency_limit_reached"),
        ("admission-paused", "service_unavailable"),
    ],
)
def test_it_waits_as_long_as_retry_after_says(
    image_workflow: Sandbox,
    client: ImageWorkflow,
    scenario: str,
    code: str,
) -> None:
    product = make_product(client)
    image_workflow.use(scenario)
    image_workflow.clock.advance(
        45
    )  # in the middle of the time in which admission is paused
    body = {"product_ids": [product], **PHOTOSHOOT}
    orders = [
        client.request("POST", "/generations/product-photography", body)
        for _ in range(6)
    ]
    for order in orders:
        client.wait_for(f"/generations/{order['id']}")
    refused_requests = refusals(image_workflow, code)
    assert refused_requests
    for refused in refused_requests:
        following = next(
            request for request in image_workflow.requests(since=refused.sequence)
        )
        assert waited_seconds(refused, following) >= int(
            refused.response_headers["retry-after"]
        )


def waited_seconds(first: RecordedRequest, second: RecordedRequest) -> float:
    """The time that passed between two requests on the emulator's clock."""
    return (
        datetime.fromisoformat(second.at) - datetime.fromisoformat(first.at)
    ).total_seconds()


@pytest.mark.parametrize(
    "scenario",
    ["upload-window-missed", "upload-bytes-conflict", "problem:upload_not_found"],
)
def test_an_upload_session_that_is_lost_is_replaced(
    image_workflow: Sandbox,
    client: ImageWorkflow,
    scenario: str,
) -> None:
    image_workflow.use(scenario)
    assert client.upload(PHOTO, "image/png")["source"] == "upload"
    refused = []
    for code in NEW_SESSION_CODES:
        refused += refusals(image_workflow, code)
    assert len(keys(image_workflow, "createUpload")) == 1 + len(refused)


def test_work_on_an_ingredient_is_waited_for_before_it_is_changed(
    image_workflow: Sandbox,
    client: ImageWorkflow,
) -> None:
    image_workflow.use(
        {
            "scenario": "slow",
            "rules": [{"match": {"work": "pose.update"}, "then": {"duration": "1m"}}],
        }
    )
    asset = client.upload(PHOTO, "image/png")["id"]
    creation = client.request("POST", "/poses", {"name": "Standing", "asset_id": asset})
    pose = client.wait_for(f"/operations/{creation['id']}")["result"]["id"]
    client.request("PATCH", f"/poses/{pose}", {"asset_id": asset})
    assert (
        client.request("PATCH", f"/poses/{pose}", {"name": "Walking"})["name"]
        == "Walking"
    )
    refused = refusals(image_workflow, "resource_operation_in_progress")
    assert refused
    assert len(keys(image_workflow, "updatePose")) == 2 + len(
        refused
    )  # a refused key may stay refused


@pytest.mark.image_workflow(scenario="flaky-network", conduct="fail")
def test_an_answer_that_cannot_be_read_counts_as_lost(
    image_workflow: Sandbox,
    client: ImageWorkflow,
) -> None:
    before = image_workflow.team("Demo").credits
    for _ in range(3):
        assert len(client.photoshoot([make_product(client)])) == 4
    assert before - image_workflow.team("Demo").credits == charged(client)


@pytest.mark.image_workflow(scenario="slow-downloads")
def test_half_a_picture_is_not_taken_for_a_whole_one(client: ImageWorkflow) -> None:
    asset = client.upload(PHOTO, "image/png")
    assert len(client.download(asset)) == asset["size_bytes"]


def test_a_list_is_read_to_its_end(
    image_workflow: Sandbox,
    client: ImageWorkflow,
) -> None:
    for _ in range(3):
        make_product(client)
    image_workflow.clock.advance(2)  # a list may show a write late
    assert len(client.list_all("/assets", limit=2, source="upload")) == 3
    assert len(statuses(image_workflow, "listAssets")) >= 2


# What cannot be mended ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"credits": 1}, "insufficient_credits"),
        ({"subscription": "inactive"}, "subscription_required"),
    ],
)
def test_what_waiting_does_not_mend_is_reported_at_once(
    image_workflow: Sandbox,
    client: ImageWorkflow,
    change: dict[str, Any],
    code: str,
) -> None:
    product = make_product(client)
    image_workflow.team("Demo").set(**change)
    with pytest.raises(Refused) as refused:
        client.photoshoot([product])
    assert code == refused.value.code
    assert (
        len({request.idempotency_key for request in refusals(image_workflow, code)})
        == 1
    )


@pytest.mark.parametrize(
    "key",
    ["iwe_demo_expired", "iwe_demo_revoked", "iwe_demo_read"],
)
def test_a_credential_that_may_not_write_is_reported_at_once(
    image_workflow: Sandbox,
    key: str,
) -> None:
    with (
        ImageWorkflow(image_workflow.base_url, image_workflow.key(key)) as stranger,
        pytest.raises(Refused) as refused,
    ):
        stranger.upload(PHOTO, "image/png")
    assert refused.value.code in (
        "credential_expired",
        "credential_revoked",
        "permission_denied",
    )
    assert (
        len(
            {
                request.idempotency_key
                for request in refusals(image_workflow, refused.value.code)
            }
        )
        == 1
    )


@pytest.mark.image_workflow(scenario="outputs-stall")
def test_work_that_never_ends_is_given_up(
    image_workflow: Sandbox,
    client: ImageWorkflow,
) -> None:
    product = make_product(client)
    with (
        ImageWorkflow(
            image_workflow.base_url,
            image_workflow.api_key,
            patience=60,
        ) as impatient,
        pytest.raises(
            Unfinished,
            match=r"/generations/gen_.* was still processing after 60 s",
        ),
    ):
        impatient.photoshoot([product])
    assert len(client.photoshoot([product])) == 4
    assert image_workflow.conduct().findings == []

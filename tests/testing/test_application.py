"""`create_app`: the emulator inside the test's own process."""

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from image_workflow_emulator.testing import (
    EmulatorApplication,
    EmulatorError,
    create_app,
)
from tests.support.emulator_client import UPLOAD

HOLD = {
    "scenario": "wait",
    "rules": [{"match": {"operation": "createUpload"}, "then": {"hold": "10s"}}],
}
LOST = {
    "scenario": "lost",
    "rules": [{"match": {"operation": "getTeam"}, "then": {"network": "reset"}}],
}


def client_of(app: EmulatorApplication) -> httpx.AsyncClient:
    """Return a client in the process of the emulator, with the credential of Demo."""
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app),
        base_url=app.sandbox.base_url,
        headers={"Authorization": "Bearer iwe_demo_full"},
    )


async def until_it_is_held(app: EmulatorApplication) -> None:
    # What is waited for is the state of another task.
    while not app.sandbox.clock.pending:  # noqa: ASYNC110
        await asyncio.sleep(0)


def test_a_held_request_goes_on_when_another_thread_moves_the_clock() -> None:
    app = create_app(clock="manual", scenario=HOLD)

    async def upload_while_the_clock_moves() -> httpx.Response:
        headers = {"Idempotency-Key": "one"}
        async with client_of(app) as client:
            upload = client.post("/uploads", json=UPLOAD, headers=headers)
            held = asyncio.ensure_future(upload)
            await until_it_is_held(app)
            await asyncio.to_thread(app.sandbox.clock.advance, 10)
            return await held

    answer = asyncio.run(upload_while_the_clock_moves())

    assert answer.status_code == 201
    assert app.sandbox.clock.now.isoformat() == "2026-01-01T00:00:10+00:00"


def test_a_lost_answer_is_an_error_of_httpx() -> None:
    app = create_app(scenario=LOST)

    async def read_team() -> None:
        async with client_of(app) as client:
            await client.get("/team")

    with pytest.raises(httpx.TransportError, match="a scenario lost the ans") as error:
        asyncio.run(read_team())

    assert isinstance(error.value, ConnectionError)
    assert error.value.request.url.path == "/v1/team"


def test_what_a_file_gives_is_there_at_the_start_and_after_a_reset(
    tmp_path: Path,
) -> None:
    file = tmp_path / "given.yaml"
    file.write_text("given: [{product: {name: Linen shirt}}]")
    app = create_app(given=file)

    async def product_names() -> list[str]:
        async with client_of(app) as client:
            answer = await client.get("/products")
        return [product["name"] for product in answer.json()["data"]]

    at_start = asyncio.run(product_names())
    app.sandbox.reset()
    after_reset = asyncio.run(product_names())

    assert at_start == ["Linen shirt"]
    assert after_reset == ["Linen shirt"]


# Starlette's client ------------------------------------------------------------------


@pytest.fixture
def app() -> Iterator[EmulatorApplication]:
    with closing(create_app(clock="manual", seed=7)) as app:
        yield app


def client_of_starlette(app: EmulatorApplication) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would like to have another HTTP library
        from starlette.testclient import TestClient
    return TestClient(app)


def check_that_it_serves(client: Any, app: EmulatorApplication) -> None:
    with app.emulator.sandbox() as sandbox:
        answer = client.get(
            f"{sandbox.base_url}/team",
            headers={"Authorization": f"Bearer {sandbox.api_key}"},
        )
        (request,) = sandbox.requests()

        assert answer.status_code == 200
        assert request.status == 200
        assert sandbox.clock.advance("1h") == 0


def test_it_serves_starlettes_test_client_with_a_lifespan(
    app: EmulatorApplication,
) -> None:
    with client_of_starlette(app) as client:
        check_that_it_serves(client, app)


def test_it_serves_starlettes_test_client_without_a_lifespan(
    app: EmulatorApplication,
) -> None:
    check_that_it_serves(client_of_starlette(app), app)


def test_it_serves_starlettes_test_client_after_a_lifespan(
    app: EmulatorApplication,
) -> None:
    client = client_of_starlette(app)
    with client:
        pass

    check_that_it_serves(client, app)


# Options -----------------------------------------------------------------------------


def test_a_control_token_stands_in_nobodys_way() -> None:
    app = create_app(control_token="open sesame")

    assert app.sandbox.team("Demo").credits == 100


@pytest.mark.parametrize(
    "option",
    [{"clock": "fast"}, {"scenario": "no-such"}, {"world": "none.yaml"}],
    ids=str,
)
def test_an_option_that_cannot_be_used_is_told(option: dict[str, str]) -> None:
    with pytest.raises(EmulatorError) as error:
        create_app(**option)

    assert error.value.code == "not_started"
    assert "Errno" not in error.value.detail

"""`create_app`: the emulator inside the test's own process."""

import asyncio
import warnings
from pathlib import Path
from typing import Any

import httpx
import pytest

from image_workflow_emulator.testing import EmulatorApplication, EmulatorError, create_app
from tests.support.emulator_client import UPLOAD

KEY = {"Authorization": "Bearer iwe_demo_full"}
HOLD = {"scenario": "wait", "rules": [{"match": {"operation": "createUpload"}, "then": {"hold": "10s"}}]}


def client_of(app: EmulatorApplication) -> httpx.AsyncClient:
    """A client in the process of the emulator, with the credential of Demo."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=app.sandbox.base_url, headers=KEY)


def test_a_held_request_goes_on_when_another_thread_moves_the_clock() -> None:
    async def run(app: EmulatorApplication) -> None:
        app.sandbox.use(HOLD)
        async with client_of(app) as client:
            headers = {"Idempotency-Key": "one"}
            held = asyncio.ensure_future(client.post("/uploads", json=UPLOAD, headers=headers))
            while not app.sandbox.clock.pending:  # noqa: ASYNC110 (until the request has come as far as its hold)
                await asyncio.sleep(0)
            await asyncio.to_thread(app.sandbox.clock.advance, 10)
            assert 201 == (await held).status_code
            assert "2026-01-01T00:00:10" == app.sandbox.clock.now.isoformat()[:19]

    asyncio.run(run(create_app(clock="manual")))


def test_it_serves_starlettes_test_client_with_a_lifespan_and_without() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would like to have another HTTP library
        from starlette.testclient import TestClient
    app = create_app(clock="manual", seed=7)
    client = TestClient(app)
    with client:
        check(client, app)
    check(client, app)


def check(client: Any, app: EmulatorApplication) -> None:
    with app.emulator.sandbox() as sandbox:
        answer = client.get(f"{sandbox.base_url}/team", headers={"Authorization": f"Bearer {sandbox.api_key}"})
        assert 200 == answer.status_code
        assert 0 == sandbox.clock.advance("1h")
        assert [200] == [request.status for request in sandbox.requests()]


def test_a_control_token_stands_in_nobodys_way() -> None:
    assert 100 == create_app(control_token="open sesame").sandbox.team("Demo").credits


@pytest.mark.parametrize("option", [{"clock": "fast"}, {"scenario": "no-such"}, {"world": "none.yaml"}])
def test_an_option_that_cannot_be_used_is_told(option: dict[str, str]) -> None:
    with pytest.raises(EmulatorError) as error:
        create_app(**option)
    assert "not_started" == error.value.code
    assert "Errno" not in error.value.detail


def test_a_lost_answer_is_an_error_of_httpx() -> None:
    async def run(app: EmulatorApplication) -> None:
        async with client_of(app) as client:
            with pytest.raises(httpx.TransportError, match="a scenario lost the answer") as error:
                await client.get("/team")
            assert isinstance(error.value, ConnectionError)
            assert error.value.request.url.path == "/v1/team"

    rule = {"match": {"operation": "getTeam"}, "then": {"network": "reset"}}
    asyncio.run(run(create_app(scenario={"scenario": "lost", "rules": [rule]})))


def test_what_a_file_gives_is_there_at_the_start_and_after_a_reset(tmp_path: Path) -> None:
    file = tmp_path / "given.yaml"
    file.write_text("given: [{product: {name: Linen shirt}}]")

    async def run(app: EmulatorApplication) -> None:
        async with client_of(app) as client:
            for _ in range(2):
                products = (await client.get("/products")).json()["data"]
                assert ["Linen shirt"] == [product["name"] for product in products]
                app.sandbox.reset()

    asyncio.run(run(create_app(given=file)))

"""A service that is recorded: an emulator in this process, asked by the probes on a clock that stands still between them."""

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson

from image_workflow_emulator.app import Application
from image_workflow_emulator.contract import Contract, load_contract
from image_workflow_emulator.drift.judgement import Report, judge
from image_workflow_emulator.drift.probes import PROBES, ProbedService
from image_workflow_emulator.drift.replay import DescribedPictures
from image_workflow_emulator.kernel.timestamps import DAY_MS
from image_workflow_emulator.settings import read_settings
from image_workflow_emulator.testing.transport import ORIGIN, Answer, ask
from image_workflow_emulator.traffic.exchanges import RecordedExchange, lower_names

CONTRACT: Contract = load_contract()
KEY = "iwe_demo_full"
_JSON = {"content-type": "application/json"}


class RecordedService(ProbedService):
    """Asks an emulator with some readings, and keeps the exchanges with the emulator's own times."""

    def __init__(self, readings: str = "plain", *, evolution: bool = False) -> None:
        options = {"clock": "manual", "readings": readings, "evolution": "on" if evolution else "off"}
        settings = read_settings(options, {})
        self.application = Application(settings, DescribedPictures(), CONTRACT)
        super().__init__(f"{ORIGIN}/v1", KEY, CONTRACT, self.wait)
        self._run = "recorded"  # so that Idempotency-Keys are the same each time

    def wait(self, seconds: float) -> None:
        """Move the clock."""
        self.control("POST", "/clock/advance", {"seconds": seconds})

    def control(self, method: str, path: str, body: Mapping[str, Any]) -> None:
        """Ask the control plane, which is not recorded."""
        answered = asyncio.run(ask(self.application, method, f"/_emulator{path}", _JSON, orjson.dumps(body)))
        assert answered.status < 400, answered.body

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """Send one request to the emulator, and keep the exchange."""
        at = self.application.sandboxes.default.clock.now()
        target = url.removeprefix(ORIGIN)
        answer = asyncio.run(ask(self.application, method, target, headers, body or b""))
        where, sent = f"request {len(self.exchanges) + 1}", lower_names(headers.items())
        parts = answer.status, answer.headers, answer.body
        self.exchanges.append(RecordedExchange(where, at, 0.0, method, url, sent, body, *parts))
        return answer


def tour(readings: str = "plain") -> list[RecordedExchange]:
    """Record a tour; see `toured`."""
    return toured(readings).exchanges


def toured(readings: str, *, evolution: bool = False) -> RecordedService:
    """Record every probe, and what only a service's world shows: failures, a pause, and a key of the day before."""
    service = RecordedService(readings, evolution=evolution)
    service.control("PATCH", f"/teams/{_team(service)}", {"credits": 500})
    for probe in PROBES:
        probe.run(service)
        service.wait(60)
    _failures(service)
    _pause(service)
    _old_key(service)
    _no_credits(service)
    return service


def judged(exchanges: list[RecordedExchange]) -> Report:
    """Judge a recording."""
    return asyncio.run(judge(exchanges, CONTRACT))


def photoshoot_of(asset: str) -> dict[str, Any]:
    """The body of an order of four pictures of a photo, with nothing left to defaults."""
    return {
        "output_mode": "photoshoot",
        "image_count": 4,
        "asset_ids": [asset],
        "background": {"type": "automatic"},
        "fashion_model": {"type": "none"},
        "aspect_ratio": "1:1",
        "resolution": "1k",
        "output_format": "png",
    }


def _team(service: RecordedService) -> str:
    return str(service.call("getTeam").json["id"])


def _failures(service: RecordedService) -> None:
    """Order photoshoots of which one, two and three outputs fail."""
    asset = service.call("listAssets", limit=1).json["data"][0]["id"]
    body = photoshoot_of(asset)
    for failing in (1, 2, 3):
        outputs = {str(slot): "content_rejected" for slot in range(1, failing + 1)}
        rule = {"match": {"work": "product_photography"}, "then": {"outputs": outputs}}
        service.control("PUT", "/scenario", {"scenario": "failing", "rules": [rule]})
        service.finished(service.call("createProductPhotographyGeneration", body))


def _pause(service: RecordedService) -> None:
    asset = service.call("listAssets", limit=1).json["data"][0]["id"]
    paused = [
        {"at": "0s", "set": {"admission": "paused", "retry_after": 5}},
        {"at": "10s", "set": {"admission": "open"}},
    ]
    service.control("PUT", "/scenario", {"scenario": "paused", "timeline": paused})
    service.call("createProduct", {"name": "Paused", "asset_ids": [asset], "primary_asset_id": asset})
    service.wait(10)
    service.control("PUT", "/scenario", {"scenario": "nothing"})


def _no_credits(service: RecordedService) -> None:
    asset = service.call("listAssets", limit=1).json["data"][0]["id"]
    body = {"asset_id": asset, "target_resolution": "4k", "output_format": "png"}
    service.control("PATCH", f"/teams/{_team(service)}", {"credits": 0})
    for _ in range(2):
        service.call("createUpscaleGeneration", body, key="poor")


def _old_key(service: RecordedService) -> None:
    asset = service.call("listAssets", limit=1).json["data"][0]["id"]
    body = {"name": "Daily", "asset_ids": [asset], "primary_asset_id": asset}
    service.call("createProduct", body, key="daily")
    service.wait(DAY_MS / 1000 + 60)
    service.call("createProduct", body, key="daily")

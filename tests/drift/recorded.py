"""A recorded service: an emulator in this process, on a manual clock, and a tour that tells its readings apart."""

import asyncio
import base64
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson

from image_workflow_emulator.app import Application
from image_workflow_emulator.client.control_client import Answer, lower_names
from image_workflow_emulator.contract import Contract, load_contract
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.readings import NO_READINGS
from image_workflow_emulator.drift.judgement import FAILURES, judge
from image_workflow_emulator.drift.recordings import RecordedExchange
from image_workflow_emulator.drift.replay import DescribedPictures
from image_workflow_emulator.drift.traffic import Traffic
from image_workflow_emulator.imaging.codecs import header_of
from image_workflow_emulator.imaging.messages import Head, Message
from image_workflow_emulator.kernel.timestamps import DAY_MS, format_timestamp
from image_workflow_emulator.report import Report
from image_workflow_emulator.settings import read_settings
from image_workflow_emulator.testing.application import ORIGIN, ask
from tests.support.pictures import picture

CONTRACT: Contract = load_contract()
KEY = "iwe_demo_full"
ORDER: Mapping[str, Any] = {
    "output_mode": "single_shots",
    "background": {"type": "automatic"},
    "fashion_model": {"type": "none"},
    "image_count": 1,
    "aspect_ratio": "4:5",
    "resolution": "1k",
    "output_format": "jpeg",
}
SHOOT = {**ORDER, "output_mode": "photoshoot", "image_count": 4}


class MeasuredPictures(DescribedPictures):
    """Answers the size of an upload as its header has it."""

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        header = header_of(parts[0]) if head["job"] == "normalize" else None
        if header is None:
            return await super().run(head, parts)
        _, width, height = header
        stored = {
            "format": head.get("stored_as") or "png",
            "scene": "clean",
            "width": width,
            "height": height,
        }
        return stored, list(parts)


class RecordedService:
    """Asks an emulator with some readings, and keeps the exchanges with the emulator's own times."""

    def __init__(self, readings: str = "plain", *, evolution: bool = False) -> None:
        options = {
            "clock": "manual",
            "readings": readings,
            "evolution": "on" if evolution else "off",
        }
        self.application = Application(read_settings(options, {}), MeasuredPictures())
        self.exchanges: list[RecordedExchange] = []

    def wait(self, seconds: float) -> None:
        """Move the clock."""
        self.control("POST", "/clock/advance", {"seconds": seconds})

    def control(
        self, method: str, path: str, body: Mapping[str, Any] | bytes = b""
    ) -> bytes:
        """Ask the control plane, which is not recorded, with JSON or a state file; return its answer."""
        form, content = (
            ("zip", body) if isinstance(body, bytes) else ("json", orjson.dumps(body))
        )
        headers = {"content-type": f"application/{form}"}
        answered = asyncio.run(
            ask(self.application, method, f"/_emulator{path}", headers, content)
        )
        assert answered.status < 400, answered.body
        return answered.body

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> Answer:
        """Send one request to the emulator, and keep the exchange."""
        at = self.application.sandboxes.default.clock.now()
        answer = asyncio.run(
            ask(
                self.application, method, url.removeprefix(ORIGIN), headers, body or b""
            )
        )
        where, sent = f"request {len(self.exchanges) + 1}", lower_names(headers.items())
        parts = answer.status, answer.headers, answer.body
        self.exchanges.append(
            RecordedExchange(where, at, 0.0, method, url, sent, body, *parts)
        )
        return answer

    def call(
        self,
        operation: str,
        body: Any = None,
        key: str | None = None,
        **parameters: str | int,
    ) -> Answer:
        """Call an operation. `parameters` are those of its path, and of its query."""
        contract = CONTRACT.operations[operation]
        query = {
            name: value
            for name, value in parameters.items()
            if f"{{{name}}}" not in contract.path
        }
        headers = {"Authorization": f"Bearer {KEY}", "Accept": "application/json"}
        if contract.takes_key:
            headers["Idempotency-Key"] = f"key-{key or len(self.exchanges)}"
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        url = f"{ORIGIN}/v1{contract.path.format_map(parameters)}" + (
            f"?{urlencode(query)}" if query else ""
        )
        return self.send(contract.method, url, headers, data)

    def finished(self, admitted: Answer) -> dict[str, Any]:
        """Poll admitted work until it has ended, as often as it asks for, and return how it was last seen."""
        shown = admitted.json
        kind = str(shown.get("object")).capitalize()
        while shown.get("id") and shown.get("status") not in TERMINAL:
            reply = self.call(f"get{kind}", **{f"{kind.lower()}_id": shown["id"]})
            shown = reply.json
            if shown.get("status") not in TERMINAL:
                self.wait(int(reply.headers.get("retry-after", "1")))
        return shown

    def upload(self, width: int = 64, height: int = 64) -> Answer:
        """Upload a photo of some size, and return the last answer."""
        data = picture(size=(width, height), mode="L")
        opened = self.call(
            "createUpload", {"content_type": "image/png", "size_bytes": len(data)}
        ).json
        upload = opened["upload"]
        sent = self.send(upload["method"], upload["url"], upload["headers"], data)
        return self.call(
            "completeUpload",
            {"upload_token": sent.json["upload_token"]},
            upload_id=opened["id"],
        )

    def photos(self, number: int) -> list[str]:
        """Upload some photos and return their ids."""
        return [str(self.upload(64, 64 + index).json["id"]) for index in range(number)]

    def product(
        self, name: str, photos: Sequence[str], key: str | None = None
    ) -> Answer:
        return self.call(
            "createProduct",
            {"name": name, "asset_ids": photos, "primary_asset_id": photos[0]},
            key,
        )

    def order(self, order: Mapping[str, Any], photos: int = 1) -> dict[str, Any]:
        """Order pictures of some photos, read the Team, wait for them, and read each."""
        body = {**order, "asset_ids": self.photos(photos)}
        admitted = self.call("createProductPhotographyGeneration", body)
        self.call("getTeam")
        work = self.finished(admitted)
        for output in work.get("outputs") or ():
            if output.get("asset"):
                self.call("getAsset", asset_id=output["asset"]["id"])
        return work


# The tour -------------------------------------------------------------------------------------------------------------


def tour(readings: str = "plain", *, evolution: bool = False) -> list[RecordedExchange]:
    """Record what tells all readings apart, failures, a pause and a key of the day before included."""
    service = RecordedService(readings, evolution=evolution)
    team = service.call("getTeam").json["id"]
    service.control("PATCH", f"/teams/{team}", {"credits": 500})
    for stop in STOPS:
        stop(service)
        service.wait(60)
    asset = service.call("listAssets", limit=1).json["data"][0]["id"]
    upscaled = {
        "asset_id": service.upload(2_500, 900).json["id"],
        "target_resolution": "4k",
        "output_format": "png",
    }
    service.finished(service.call("createUpscaleGeneration", upscaled))
    for failing in ("1", "12", "123"):
        rule = {
            "match": {"work": "product_photography"},
            "then": {"outputs": dict.fromkeys(failing, "content_rejected")},
        }
        service.control("PUT", "/scenario", {"scenario": "failing", "rules": [rule]})
        service.finished(
            service.call("createProductPhotographyGeneration", photoshoot_of(asset))
        )
    pause = {"at": "0s", "set": {"admission": "paused", "retry_after": 5}}
    opening = {"at": "10s", "set": {"admission": "open"}}
    service.control(
        "PUT", "/scenario", {"scenario": "paused", "timeline": [pause, opening]}
    )
    service.product("Paused", [asset])
    service.wait(10)
    service.control("PUT", "/scenario", {"scenario": "nothing"})
    service.product("Daily", [asset], key="daily")
    service.wait(DAY_MS / 1000 + 60)
    service.product("Daily", [asset], key="daily")
    service.control("PATCH", f"/teams/{team}", {"credits": 0})
    for _ in range(2):
        service.call("createUpscaleGeneration", upscaled, key="poor")
    return service.exchanges


def photoshoot_of(asset: str) -> dict[str, Any]:
    """The body of an order of four pictures of a photo, with nothing left to defaults."""
    return {
        **SHOOT,
        "asset_ids": [asset],
        "aspect_ratio": "1:1",
        "output_format": "png",
    }


def _product(service: RecordedService) -> None:
    service.product("Probe", sorted(service.photos(2), reverse=True))
    service.call("listProducts")


def _style(service: RecordedService) -> None:
    body = {"name": "Probe", "asset_ids": service.photos(3)}
    admitted = service.call("createPhotographyStyle", body, key="style")
    service.call("createPhotographyStyle", {**body, "description": ""}, key="style")
    service.finished(admitted)


def _pose(service: RecordedService) -> None:
    (photo,) = service.photos(1)
    service.call("getTeam")
    admitted = service.call("createPose", {"name": "Probe", "asset_id": photo})
    service.call("getTeam")
    service.finished(admitted)
    service.call("getTeam")


STOPS: Sequence[Callable[[RecordedService], object]] = (
    lambda service: service.call("listAssets", limit=101),
    lambda service: service.call("listPoses", limit=100),
    lambda service: service.send("GET", service.upload().json["url"], {}),
    lambda service: service.upload(6_000, 5_000),
    lambda service: service.product("n" * 150, service.photos(1)),
    lambda service: service.product("Probe", ["ast_absent"], key="refused-twice"),
    lambda service: service.product("Probe", ["ast_absent"], key="refused-twice"),
    _product,
    _style,
    lambda service: service.order({**SHOOT, "image_count": 2}),
    _pose,
    lambda service: service.order({"output_mode": "single_shots"}),
    lambda service: service.order(ORDER),
    lambda service: service.order(ORDER, photos=6),
    lambda service: service.order(SHOOT),
)


def judged(exchanges: Sequence[RecordedExchange]) -> Report:
    """Judge a recording."""
    return judge(Traffic(exchanges, CONTRACT), NO_READINGS, (), FAILURES)


def found(exchanges: Sequence[RecordedExchange]) -> list[str]:
    """Judge a recording, and return what was found: readings by their names (`D37=None` where no reading explains the
    service), and each other finding as its verdict and place (`breach Request-Id`).
    """
    report = judged(exchanges)
    rows = [
        row
        for row in report.details["decisions"]
        if row.verdict in ("other", "neither")
    ]
    others = [
        f"{one.rule} {str(one.where).split()[-1]}"
        for one in report.findings[len(rows) :]
    ]
    return [f"{row.decision}={row.reading}" for row in rows] + others


# As a file ------------------------------------------------------------------------------------------------------------


def as_har(exchanges: Sequence[RecordedExchange]) -> dict[str, Any]:
    """Return exchanges as a HAR."""
    return {
        "log": {
            "version": "1.2",
            "entries": [_har_entry(exchange) for exchange in exchanges],
        }
    }


def written(exchanges: Sequence[RecordedExchange], file: Path) -> str:
    """Write exchanges as a HAR, and return the name of the file."""
    file.write_text(json.dumps(as_har(exchanges)))
    return str(file)


def _har_entry(one: RecordedExchange) -> dict[str, Any]:
    def message(headers: Mapping[str, str]) -> dict[str, Any]:
        return {
            "headers": [
                {"name": name, "value": value} for name, value in headers.items()
            ]
        }

    def content(body: bytes) -> dict[str, Any]:
        encoded = {"text": base64.b64encode(body).decode(), "encoding": "base64"}
        return encoded if b"\0" in body else {"text": body.decode()}

    request = message(one.request_headers) | {"method": one.method, "url": one.url}
    sent = {"postData": content(one.request_body)} if one.request_body else {}
    answer = message(one.response_headers) | {
        "status": one.status,
        "content": content(one.response_body or b""),
    }
    began = {"startedDateTime": format_timestamp(one.at or 0), "time": one.took_ms}
    return {**began, "request": request | sent, "response": answer}

"""A recorded service: an emulator in this process, on a manual clock."""

import asyncio
import atexit
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlencode

import orjson

from image_workflow_emulator.app import Application
from image_workflow_emulator.client.control_client import Answer, lower_names
from image_workflow_emulator.contract import Contract, load_contract
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.replay import DescribedPictures
from image_workflow_emulator.imaging.codecs import header_of
from image_workflow_emulator.imaging.messages import Head, Message
from image_workflow_emulator.settings import read_settings
from image_workflow_emulator.testing.application import ORIGIN, ask
from tests.support.pictures import picture

CONTRACT: Contract = load_contract()
KEY = "iwe_demo_full"
PHOTOGRAPHY = "createProductPhotographyGeneration"
ORDER: Mapping[str, Any] = {
    "output_mode": "single_shots",
    "background": {"type": "automatic"},
    "fashion_model": {"type": "none"},
    "image_count": 1,
    "aspect_ratio": "4:5",
    "resolution": "1k",
    "output_format": "jpeg",
}
"""A single shot, with nothing left to defaults but its subjects."""
SHOOT: Mapping[str, Any] = {
    **ORDER,
    "output_mode": "photoshoot",
    "image_count": 4,
}


class MeasuredPictures(DescribedPictures):
    """Answers the size of an upload as its header has it."""

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        if head["job"] != "normalize":
            return await super().run(head, parts)
        header = header_of(parts[0])
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


@cache
def event_loop() -> asyncio.AbstractEventLoop:
    """The loop of all recorded services, as a new one for each request takes time."""
    runner = asyncio.Runner()
    atexit.register(runner.close)
    return runner.get_loop()


class RecordedService:
    """Asks an emulator with some readings, and keeps the exchanges with its times."""

    def __init__(self, readings: str = "plain", *, evolution: bool = False) -> None:
        options = {
            "clock": "manual",
            "readings": readings,
            "evolution": "on" if evolution else "off",
        }
        settings = read_settings(options, {})
        self.application = Application(settings, MeasuredPictures())
        self.exchanges: list[RecordedExchange] = []

    def wait(self, seconds: float) -> None:
        """Move the clock."""
        self.control("POST", "/clock/advance", {"seconds": seconds})

    def set_credits(self, amount: int) -> None:
        """Set the Credits of the Team, whose id an answer must have told."""
        answer = self.control("GET", "/teams", {})
        team = json.loads(answer)["data"][0]
        path = f"/teams/{team['id']}"
        self.control("PATCH", path, {"credits": amount})

    def play(self, *rules: Mapping[str, Any]) -> None:
        """Play a scenario of some rules from now on."""
        scenario = {"scenario": "played", "rules": rules}
        self.control("PUT", "/scenario", scenario)

    def control(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | bytes = b"",
    ) -> bytes:
        """Ask the control plane, which is not recorded, with JSON or a state file."""
        content_type = "application/zip"
        content = body
        if not isinstance(content, bytes):
            content_type = "application/json"
            content = orjson.dumps(content) if content else b""
        headers = {"content-type": content_type}
        target = f"/_emulator{path}"
        answer = self._answer_to(method, target, headers, content)
        assert answer.status < 400, answer.body
        return answer.body

    def _answer_to(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        content: bytes,
    ) -> Answer:
        asked = ask(
            self.application,
            method,
            target,
            headers,
            content,
        )
        return event_loop().run_until_complete(asked)

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> Answer:
        """Send one request to the emulator, and keep the exchange."""
        at = self.application.sandboxes.default.clock.now()
        target = url.removeprefix(ORIGIN)
        answer = self._answer_to(method, target, headers, body or b"")
        exchange = RecordedExchange(
            where=f"request {len(self.exchanges) + 1}",
            at=at,
            took_ms=0.0,
            method=method,
            url=url,
            request_headers=lower_names(headers.items()),
            request_body=body,
            status=answer.status,
            response_headers=answer.headers,
            response_body=answer.body,
        )
        self.exchanges.append(exchange)
        return answer

    def call(
        self,
        operation: str,
        body: Any = None,
        key: str | None = None,
        **parameters: str | int,
    ) -> Answer:
        """Call an operation. `parameters` are those of its path and of its query."""
        contract = CONTRACT.operations[operation]
        headers = {
            "Authorization": f"Bearer {KEY}",
            "Accept": "application/json",
        }
        if contract.takes_key:
            headers["Idempotency-Key"] = f"key-{key or len(self.exchanges)}"
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        query = {
            name: value
            for name, value in parameters.items()
            if f"{{{name}}}" not in contract.path
        }
        url = f"{ORIGIN}/v1{contract.path.format_map(parameters)}"
        if query:
            url += f"?{urlencode(query)}"
        return self.send(contract.method, url, headers, content)

    def finished(self, admitted: Answer) -> dict[str, Any]:
        """Poll admitted work until it has ended, as often as it asks for."""
        work = admitted.json
        kind = str(work.get("object"))
        operation = f"get{kind.capitalize()}"
        while work.get("id") and work.get("status") not in TERMINAL:
            parameters = {f"{kind}_id": work["id"]}
            answer = self.call(operation, **parameters)
            work = answer.json
            if work.get("status") not in TERMINAL:
                retry_after = answer.headers.get("retry-after", "1")
                self.wait(int(retry_after))
        return work

    def upload(self, width: int = 64, height: int = 64) -> Answer:
        """Upload a photo of some size, and return the last answer."""
        photo = picture(size=(width, height), mode="L")
        body = {"content_type": "image/png", "size_bytes": len(photo)}
        session = self.call("createUpload", body).json
        upload = session["upload"]
        sent = self.send(
            method=upload["method"],
            url=upload["url"],
            headers=upload["headers"],
            body=photo,
        )
        completion = {"upload_token": sent.json["upload_token"]}
        return self.call("completeUpload", completion, upload_id=session["id"])

    def photos(self, number: int) -> list[str]:
        """Upload some photos and return their ids."""
        uploads = [self.upload(64, 64 + index) for index in range(number)]
        return [str(upload.json["id"]) for upload in uploads]

    def product(
        self,
        name: str,
        photos: Sequence[str],
        key: str | None = None,
    ) -> Answer:
        """Create a Product of some photos, of which the first is the primary."""
        body = {
            "name": name,
            "asset_ids": photos,
            "primary_asset_id": photos[0],
        }
        return self.call("createProduct", body, key)

    def order(self, order: Mapping[str, Any], photos: int = 1) -> dict[str, Any]:
        """Order pictures of new photos, read the Team, wait, and read the pictures."""
        body = {**order, "asset_ids": self.photos(photos)}
        admitted = self.call(PHOTOGRAPHY, body)
        self.call("getTeam")
        work = self.finished(admitted)
        for output in work.get("outputs") or ():
            if output.get("asset"):
                self.call("getAsset", asset_id=output["asset"]["id"])
        return work

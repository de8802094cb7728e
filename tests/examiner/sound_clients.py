"""Clients that are sound, each with habits of its own, and the tour that they make against a real server.

Their pauses move the emulator's clock. They share the ways of a good client: one key for each intent, waits as told, backoff
where nothing is told, and an end to everything.
"""

import itertools
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPException
from typing import Any, Final

from emulator.testing import Sandbox
from tests.support.emulator_client import Answer
from tests.support.pictures import picture
from tests.support.wire import Wire

TERMINAL: Final = ("completed", "failed")
REPEATABLE: Final = (429, 500, 503)
TIMEOUT_SECONDS: Final = 0.5
Json = dict[str, Any]


class Refused(Exception):
    """What this client does not ask again."""


class SoundClient:
    """Waits as it is told, and gives a request eight attempts."""

    name = "steady"
    attempts = 8
    most_looks = 30

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._base, self._key = sandbox.base_url, sandbox.api_key
        self._keys = (f"key-{number}" for number in itertools.count())

    # The tour -------------------------------------------------------------------------------------------------------

    def tour(self) -> None:
        """Do a little of everything; what is refused for good is left, and the next thing begun."""
        self._try(lambda: self.ask("GET", "/team"))
        assets = [asset for asset in (self._try(self.upload) for _ in range(3)) if asset]
        if not assets:
            return
        first = assets[0]["id"]
        single = {"output_mode": "single_shots", "asset_ids": [first]}
        shoot = {"output_mode": "photoshoot", "asset_ids": [first]}
        upscale = {"asset_id": first, "target_resolution": "2k", "output_format": "png"}
        for name, body in (("product-photography", shoot), ("product-photography", single), ("upscale", upscale)) * 2:
            self._try(lambda name=name, body=body: self.work("POST", f"/generations/{name}", body))  # type: ignore[misc]
        self._try(lambda: self.ask("POST", "/products", {"name": "A", "asset_ids": [first], "primary_asset_id": first}))
        backdrop = {"name": "B", "kind": "backdrop", "asset_id": first}
        done = self._try(lambda: self.work("POST", "/backgrounds", backdrop))
        if done and done.get("result"):
            path = f"/backgrounds/{done['result']['id']}"
            self._try(lambda: self.work("PATCH", path, {"asset_id": assets[-1]["id"]}))
            self._try(lambda: self.ask("DELETE", path))
        for path in ("/assets", "/generations", "/poses"):
            self._try(lambda path=path: self.pages(path))  # type: ignore[misc]
        self._try(lambda: self.ask("GET", f"/assets/{first}"))

    def _try(self, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except Refused:
            return None

    def upload(self) -> Json:
        """Bring a picture in."""
        for _ in range(3):
            session = self.ask("POST", "/uploads", {"content_type": "image/png", "size_bytes": len(picture())})
            target = session["upload"]
            sent = self._insist(lambda target=target: self.send("POST", target["url"], picture(), target["headers"]))  # type: ignore[misc]
            try:
                return self.ask("POST", f"/uploads/{session['id']}/complete", sent)
            except Refused as refused:
                if str(refused) not in ("upload_expired", "upload_bytes_conflict", "upload_not_found"):
                    raise
        raise Refused("uploads")

    def pages(self, path: str) -> None:
        """Read a list to its end; begin anew where a cursor is refused."""
        cursor = ""
        for _ in range(10):
            try:
                page = self.ask("GET", f"{path}?limit=2{cursor}")
            except Refused as refused:
                if str(refused) != "invalid_cursor":
                    raise
                cursor = ""
                continue
            if not page["page"]["has_more"]:
                break
            cursor = f"&after={page['page']['next_cursor']}"

    def work(self, method: str, path: str, body: Json) -> Json:
        """Admit work, and see how it ends."""
        return self.watch(self.ask(method, path, body))

    def watch(self, work: Json) -> Json:
        """Look until it has ended, or patience has."""
        path = f"/{work['object']}s/{work['id']}"
        for _ in range(self.most_looks):
            answer = self._answered(lambda: self._send_api("GET", path, None, None))
            if answer.status >= 400:
                raise Refused(answer.code)
            if answer.json["status"] in TERMINAL:
                return dict(answer.json)
            self.pause(self.look_again_seconds(answer))
        raise Refused("it does not end")

    def look_again_seconds(self, answer: Answer) -> float:
        """How long to wait before the next look."""
        return answer.retry_after or 1

    # How it asks ----------------------------------------------------------------------------------------------------

    def pause(self, seconds: float) -> None:
        """Wait."""
        self._sandbox.clock.advance(seconds)

    def ask(self, method: str, path: str, body: Json | None = None) -> Json:
        """Send one logical request."""
        key = next(self._keys) if method in ("POST", "PATCH") else None
        return self._insist(lambda: self._send_api(method, path, body, key))

    def _insist(self, send: Callable[[], Answer]) -> Json:
        answer = self._answered(send)
        if answer.status >= 400:
            raise Refused(answer.code)
        return dict(answer.json) if answer.body else {}

    def _answered(self, send: Callable[[], Answer]) -> Answer:
        for attempt in range(self.attempts):
            backoff = 2.0**attempt
            try:
                answer = send()
                told = answer.json if answer.body else {}
            except (OSError, HTTPException, ValueError):
                self.pause(backoff)
                continue
            if told.get("code") == "resource_operation_in_progress":
                self.watch({"object": "operation", "id": told["active_operation_id"]})
            elif answer.status in REPEATABLE or told.get("code") == "idempotency_in_progress":
                if attempt < self.attempts - 1:
                    self.pause(backoff if answer.retry_after is None else answer.retry_after)
            else:
                return answer
        raise Refused("no attempt is left")

    def _send_api(self, method: str, path: str, body: Json | None, key: str | None) -> Answer:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        return self.send(method, self._base + path, content, headers | ({"Idempotency-Key": key} if key else {}))

    def send(self, method: str, url: str, content: bytes | None, headers: Json) -> Answer:
        """Send a request on a connection of its own."""
        wire = Wire(url)
        with closing(wire.connect(TIMEOUT_SECONDS)) as connection:
            connection.request(method, "/" + url.split("/", 3)[3], content, headers | {"User-Agent": self.name})
            return wire.finish(connection)


class SlowClient(SoundClient):
    """Looks at its work every eleven minutes."""

    name = "slow"

    def look_again_seconds(self, answer: Answer) -> float:
        return 660.0


class HedgingClient(SoundClient):
    """Sends every write a second time when no answer comes at once, with the same key, and takes the better answer."""

    name = "hedging"

    def _send_api(self, method: str, path: str, body: Json | None, key: str | None) -> Answer:
        if key is None:
            return super()._send_api(method, path, body, key)
        with ThreadPoolExecutor(2) as pool:
            send = super()._send_api
            sent = [pool.submit(send, method, path, body, key) for _ in range(2)]
        answers = [one.result() for one in sent if one.exception() is None]
        if not answers:
            raise ConnectionError
        return min(answers, key=lambda answer: answer.status)


class PoliteClient(SoundClient):
    """Tries twice, looks four times, and then tells its user."""

    name = "polite"
    attempts = 2
    most_looks = 4


CLIENTS: Final = (SoundClient, SlowClient, HedgingClient, PoliteClient)

"""A suite of four tests with 21 requests, and its client: sound, unless SHOP_DEFECTS names what is wrong with it."""

import itertools
import os
import time
from pathlib import Path
from typing import Any

import httpx

from image_workflow_emulator.testing import Sandbox

PHOTO = (Path(__file__).parents[2] / "examples" / "python" / "photo.png").read_bytes()
DEFECTS = os.environ.get("SHOP_DEFECTS", "").split(",")
REPEATABLE = (429, 500, 503)
AGAIN = ("idempotency_in_progress", "resource_operation_in_progress")
GONE = ("upload_expired", "upload_not_found", "upload_bytes_conflict")


class Refused(Exception):
    """An answer that no repetition changes."""


class Shop:
    """A client of the service."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._base_url = sandbox.base_url
        self._key, self._keys = sandbox.api_key, itertools.count()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request until there is an answer, at most five times."""
        headers = {"Authorization": f"Bearer {self._key}"}
        if method != "GET" and method != "DELETE":
            headers["Idempotency-Key"] = f"key-{next(self._keys)}"
        attempts = 1 if f"{method} once" in DEFECTS else 5
        for attempt in range(attempts):
            if "new keys" in DEFECTS and method == "POST":
                headers["Idempotency-Key"] = f"key-{next(self._keys)}"
            try:
                answer = httpx.request(method, self._base_url + path, json=body, headers=headers, timeout=1)
                value: Any = answer.json() if answer.content else None
            except (httpx.RequestError, ValueError):
                time.sleep(0.02)
                continue
            if answer.is_success:
                return value
            if method == "DELETE" and attempt and answer.status_code == 404:
                return None
            if answer.status_code not in REPEATABLE and value["code"] not in AGAIN:
                raise Refused(value["code"])
        raise Refused("no answer")

    def upload(self) -> str:
        """Upload the photo, with a new session where one is gone; return the id of its Asset."""
        for _ in range(1 if "one session" in DEFECTS else 3):
            session = self.send("POST", "/uploads", {"content_type": "image/png", "size_bytes": len(PHOTO)})
            try:
                token = self._put(session["upload"])
                return str(self.send("POST", f"/uploads/{session['id']}/complete", token)["id"])
            except Refused as refused:
                if str(refused) not in GONE:
                    raise
        raise Refused("no session")

    def _put(self, target: Any) -> Any:
        for _ in range(5):
            try:
                answer = httpx.post(target["url"], content=PHOTO, headers=target["headers"], timeout=1)
                if answer.is_success:
                    return answer.json()
            except (httpx.RequestError, ValueError):
                pass
            time.sleep(0.02)
        raise Refused("no answer")

    def product(self) -> str:
        """Make a Product."""
        body = {"name": "Shirt", "asset_ids": (ids := [self.upload()]), "primary_asset_id": ids[0]}
        return str(self.send("POST", "/products", body)["id"])


def test_a_product_is_made_and_deleted(image_workflow: Sandbox) -> None:
    shop = Shop(image_workflow)
    product = shop.product()
    assert shop.send("GET", f"/products/{product}")["name"] == "Shirt"
    shop.send("DELETE", f"/products/{product}")
    assert not shop.send("GET", "/products")["data"]


def test_a_product_is_renamed(image_workflow: Sandbox) -> None:
    shop = Shop(image_workflow)
    product = shop.product()
    shop.send("PATCH", f"/products/{product}", {"name": "Coat"})
    assert shop.send("GET", f"/products/{product}")["name"] == "Coat"


def test_the_lists_are_read(image_workflow: Sandbox) -> None:
    shop = Shop(image_workflow)
    assert shop.send("GET", "/team")["name"] == "Demo"
    for path in ("/poses", "/backgrounds"):
        assert shop.send("GET", path)["data"]


def test_a_photo_is_enlarged(image_workflow: Sandbox) -> None:
    shop = Shop(image_workflow)
    order = {"asset_id": shop.upload(), "target_resolution": "2k", "output_format": "png"}
    work = shop.send("POST", "/generations/upscale", order)
    while work["status"] not in ("completed", "failed"):
        work = shop.send("GET", f"/generations/{work['id']}")
    assert work["status"] == "completed"

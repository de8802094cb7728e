"""The client as the course begins: for each product a photo in, four pictures out. Needs httpx."""

import json
import os
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

Json = dict[str, Any]
PHOTO = (Path(__file__).parents[1] / "python" / "photo.png").read_bytes()
PRODUCTS = ("Linen shirt", "Silk scarf", "Wool coat")
ORDER = {
    "output_mode": "photoshoot",
    "image_count": 4,
    "fashion_model": {"type": "automatic"},
    "aspect_ratio": "1:1",
    "resolution": "1k",
    "output_format": "png",
}


class Refused(Exception):
    """The service refused a request."""

    def __init__(self, response: httpx.Response) -> None:
        problem = response.json()
        self.code: str = problem["code"]
        self.retry_after = response.headers.get("retry-after")
        super().__init__(f"{response.status_code} {self.code}: {problem['detail']}")


class Client:
    """The service, as the shop uses it."""

    def __init__(self) -> None:
        self.base_url = os.environ["IMAGE_WORKFLOW_BASE_URL"]
        self.api_key = os.environ["IMAGE_WORKFLOW_API_KEY"]
        self.http = httpx.Client(timeout=10)
        self.pause = 0.0
        """How many seconds the last answer asks to wait before the next look."""

    def run(self) -> int:
        """Shoot all products, print the ids of their pictures, and return the exit status."""
        print(json.dumps({name: self.shoot(name) for name in PRODUCTS}))
        return 0

    def shoot(self, name: str) -> list[str]:
        asset_id = self.upload(PHOTO)["id"]
        product = self.ask(
            "POST",
            "/products",
            {"name": name, "asset_ids": [asset_id], "primary_asset_id": asset_id},
        )
        background = {
            "type": "background",
            "background_id": self.background("Seamless white"),
        }
        order = ORDER | {"product_ids": [product["id"]], "background": background}
        generation = self.ask("POST", "/generations/product-photography", order)
        while generation["status"] not in ("completed", "failed"):
            time.sleep(self.pause)
            generation = self.ask("GET", f"/generations/{generation['id']}")
        return self.pictures(generation)

    def upload(self, photo: bytes) -> Json:
        session = self.ask(
            "POST",
            "/uploads",
            {"content_type": "image/png", "size_bytes": len(photo)},
        )
        recipe = session["upload"]  # the key must never be sent to this address
        sent = self.send(recipe["method"], recipe["url"], recipe["headers"], photo)
        return self.ask(
            "POST",
            f"/uploads/{session['id']}/complete",
            {"upload_token": sent["upload_token"]},
        )

    def background(self, name: str) -> str:
        page = self.ask("GET", "/backgrounds?scope=global")
        return str(
            next(
                background["id"]
                for background in page["data"]
                if background["name"] == name
            )
        )

    def pictures(self, generation: Json) -> list[str]:
        return [output["asset"]["id"] for output in generation["outputs"]]

    def headers(self) -> dict[str, str]:
        key = {
            "Authorization": f"Bearer {self.api_key}",
            "Idempotency-Key": str(uuid.uuid4()),
        }
        return key | {"Content-Type": "application/json"}

    def ask(
        self,
        method: str,
        path: str,
        body: Json | None = None,
    ) -> Json:
        """Send a request, and send it again if there is no answer."""
        try:
            return self.send(
                method,
                self.base_url + path,
                self.headers(),
                json.dumps(body).encode() if body else None,
            )
        except httpx.RequestError:
            time.sleep(0.5)
            return self.send(
                method,
                self.base_url + path,
                self.headers(),
                json.dumps(body).encode() if body else None,
            )

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
    ) -> Json:
        """Send a request once. Raises Refused."""
        response = self.http.request(method, url, headers=headers, content=content)
        if not response.is_success:
            raise Refused(response)
        self.pause = float(response.headers.get("retry-after", 2))
        return dict(response.json())

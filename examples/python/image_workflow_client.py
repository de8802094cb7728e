"""A small client of the Image Workflow Service: photos in, a photoshoot out. Needs httpx.

It shows what a sound client does: one Idempotency-Key for each thing that is wanted, however often it is asked for; waits
as long as Retry-After says; exponential backoff with jitter where nothing is said; and every problem that a client can
recover from, told by its code.
"""

import random
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import httpx

Json = dict[str, Any]

LONGEST_PAUSE_SECONDS = 30.0
NEW_SESSION_CODES = {"upload_expired", "upload_bytes_conflict", "upload_not_found"}
"""What a new Upload Session mends."""
REPEATABLE = {
    "rate_limited",
    "concurrency_limit_reached",
    "service_unavailable",
    "internal_error",
    "idempotency_in_progress",
}
"""What the same request with the same Idempotency-Key may meet better luck with later."""


class Refused(Exception):
    """The service refused a request, and asking again does not help."""

    def __init__(self, problem: Json, status: int) -> None:
        super().__init__(f"{status} {problem['code']}: {problem['detail']} (request {problem['request_id']})")
        self.code: str = problem["code"]
        self.status = status


class WorkFailed(Exception):
    """Work was admitted, and none of it was completed."""


class ImageWorkflow:
    """The service, as one credential sees it."""

    def __init__(self, base_url: str, api_key: str, *, attempts: int = 8, timeout: float = 10.0) -> None:
        headers = {"Authorization": f"Bearer {api_key}"}
        self._api = httpx.Client(base_url=base_url, headers=headers, timeout=timeout)
        # The credential must never be sent to the addresses of uploads and files.
        self._links = httpx.Client(timeout=timeout)
        self._attempts = attempts

    def close(self) -> None:
        """Close the connections."""
        self._api.close()
        self._links.close()

    # What it is for -------------------------------------------------------------------------------------------------

    def upload(self, photo: bytes, content_type: str) -> Json:
        """Bring a photo in and return its Asset."""
        for _ in range(self._attempts):
            body = {"content_type": content_type, "size_bytes": len(photo)}
            session = self.request("POST", "/uploads", body)
            try:
                sent = self._send_bytes(session["upload"], photo)
                return self.request("POST", f"/uploads/{session['id']}/complete", sent)
            except Refused as refused:
                if refused.code not in NEW_SESSION_CODES:
                    raise
        raise WorkFailed("no Upload Session lasted until its bytes were there")

    def create_product(self, name: str, asset_ids: Sequence[str]) -> Json:
        """Group photos into a Product."""
        body = {"name": name, "asset_ids": list(asset_ids), "primary_asset_id": asset_ids[0]}
        return self.request("POST", "/products", body)

    def photoshoot(self, product_ids: Sequence[str], **options: Any) -> list[Json]:
        """Order a photoshoot, wait for it, and return the Assets of the outputs that were completed."""
        body = {"product_ids": list(product_ids), "output_mode": "photoshoot", **options}
        generation = self.request("POST", "/generations/product-photography", body)
        done = self.wait_for(f"/generations/{generation['id']}")
        completed = [output["asset"]["id"] for output in done["outputs"] if output["status"] == "completed"]
        if not completed:
            raise WorkFailed(f"every output of {generation['id']} failed: {done['outputs'][0]['error']}")
        return [self.request("GET", f"/assets/{asset_id}") for asset_id in completed]

    def download(self, asset: Json) -> bytes:
        """Fetch the picture of an Asset."""
        return self._retried(lambda: self._links.get(asset["url"])).content

    def wait_for(self, path: str) -> Json:
        """Poll an Operation or a Generation until it has ended, as often as the service suggests."""
        while True:
            answer = self._answer("GET", path)
            work: Json = answer.json()
            if work["status"] in ("completed", "failed"):
                return work
            time.sleep(_retry_after(answer, usual=1.0))

    def request(self, method: str, path: str, body: Json | None = None) -> Json:
        """Send one logical request, repeated until it is answered for good. Raises Refused."""
        answer = self._answer(method, path, body)
        return dict(answer.json()) if answer.content else {}

    # How it asks ----------------------------------------------------------------------------------------------------

    def _answer(self, method: str, path: str, body: Json | None = None) -> httpx.Response:
        # One key for all attempts: a write whose answer was lost is then not done twice.
        headers = {"Idempotency-Key": str(uuid.uuid4())} if method in ("POST", "PATCH") else {}
        while True:
            answer = self._retried(lambda: self._api.request(method, path, json=body, headers=headers))
            if answer.status_code < 400:
                return answer
            problem = answer.json()
            if problem["code"] != "resource_operation_in_progress":
                raise Refused(problem, answer.status_code)
            self.wait_for(f"/operations/{problem['active_operation_id']}")

    def _send_bytes(self, recipe: Json, photo: bytes) -> Json:
        method, url, headers = recipe["method"], recipe["url"], recipe["headers"]
        answer = self._retried(lambda: self._links.request(method, url, content=photo, headers=headers))
        if answer.status_code >= 400:
            raise Refused(answer.json(), answer.status_code)
        return {"upload_token": answer.json()["upload_token"]}

    def _retried(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Send until there is an answer that repetition cannot change, or no attempt is left."""
        for attempt in range(1, self._attempts + 1):
            backoff = min(0.5 * 2**attempt, LONGEST_PAUSE_SECONDS) * random.uniform(0.5, 1)
            try:
                answer = send()
            except httpx.TransportError:
                if attempt == self._attempts:
                    raise
                time.sleep(backoff)
                continue
            if attempt == self._attempts or not _is_repeatable(answer):
                return answer
            time.sleep(_retry_after(answer, usual=backoff))
        raise AssertionError("the last attempt returns or raises")


def _is_repeatable(answer: httpx.Response) -> bool:
    if answer.status_code < 400:
        return False
    is_problem = answer.headers.get("content-type", "").startswith("application/problem+json")
    return answer.status_code >= 500 if not is_problem else answer.json()["code"] in REPEATABLE


def _retry_after(answer: httpx.Response, usual: float) -> float:
    return float(answer.headers.get("retry-after", usual))

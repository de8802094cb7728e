"""A small client of the Image Workflow Service: photos in, a photoshoot out. Needs httpx.

It has the habits of a client that survives, which docs/survive.md explains:

- One Idempotency-Key for each thing that is wanted, however often it is sent, until it is refused for good.
- An answer that cannot be read counts as lost.
- It waits as long as Retry-After says, or else with exponential backoff and jitter.
- It recovers from every problem that a client can recover from, and decides by the code.
- It sends every field that has a default, and follows the redirects of files.
- Every loop has an end.
"""

import random
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

Json = dict[str, Any]

CERTIFICATES = httpx.create_ssl_context()
"""What TLS trusts. It is read once: that takes tens of milliseconds for each httpx.Client otherwise."""
LONGEST_PAUSE_SECONDS = 30.0
LEAST_PER_POLL_SECONDS = 1.0
"""Counts against `patience` for each poll, so that polling ends even if the service asks for no pause."""
MOST_PAGES = 1_000
NEW_SESSION_CODES = {"upload_expired", "upload_bytes_conflict", "upload_not_found"}
"""The problems after which an upload needs a new Upload Session."""
PHOTOSHOOT: Json = {
    "output_mode": "photoshoot",
    "image_count": 4,
    "background": {"type": "automatic"},
    "fashion_model": {"type": "automatic"},
    "aspect_ratio": "1:1",
    "resolution": "1k",
    "output_format": "png",
}
"""A photoshoot unless the caller says otherwise: the service does not promise what it would fill in."""
REPEATABLE = {
    "rate_limited",
    "concurrency_limit_reached",
    "service_unavailable",
    "internal_error",
    "idempotency_in_progress",
}
"""The problems after which the same request, with the same Idempotency-Key, may succeed later."""


class Refused(Exception):
    """The service refused a request, and a retry would not help or has not helped."""

    def __init__(self, status: int, problem: Json) -> None:
        self.status = status
        self.problem = problem
        self.code: str = problem.get("code", "unknown")
        super().__init__(
            f"{status} {self.code}: {problem.get('detail')} "
            f"(request {problem.get('request_id')})"
        )


class Unanswered(Exception):
    """No attempt got an answer that can be read. Whether a write was carried out is unknown."""


class WorkFailed(Exception):
    """Work was admitted, and all of it failed."""


class Unfinished(Exception):
    """Work was admitted, and did not end within `patience`. It may still end: the message says where to look."""


@dataclass(frozen=True)
class Answer:
    """The answer to a request: a success with a complete body."""

    headers: httpx.Headers
    body: Any


class ImageWorkflow:
    """The service, as one credential sees it.

    `attempts` limits how often one request is sent. `timeout` limits how many seconds the service may be silent, and
    `patience` how many seconds the client waits for work.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        attempts: int = 8,
        timeout: float = 10.0,
        patience: float = 1200.0,
    ) -> None:
        headers = {"Authorization": f"Bearer {api_key}"}
        self._api = httpx.Client(
            base_url=base_url,
            headers=headers,
            timeout=timeout,
            verify=CERTIFICATES,
        )
        # The credential must never be sent to the addresses of uploads and files.
        self._links = httpx.Client(timeout=timeout, verify=CERTIFICATES)
        self._attempts = attempts
        self._patience = patience

    def close(self) -> None:
        """Close the connections; the end of a `with` block does."""
        self._api.close()
        self._links.close()

    def __enter__(self) -> "ImageWorkflow":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What it is for -------------------------------------------------------------------------------------------------

    def upload(self, photo: bytes, content_type: str) -> Json:
        """Upload a photo and return its Asset."""
        for attempt in range(1, self._attempts + 1):
            body = {"content_type": content_type, "size_bytes": len(photo)}
            session = self.request("POST", "/uploads", body)
            try:
                token = self._send_bytes(session["upload"], photo)["upload_token"]
                return self.request(
                    "POST",
                    f"/uploads/{session['id']}/complete",
                    {"upload_token": token},
                )
            except Refused as refused:
                if refused.code not in NEW_SESSION_CODES or attempt == self._attempts:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def create_product(self, name: str, asset_ids: Sequence[str]) -> Json:
        """Group photos into a Product."""
        body = {
            "name": name,
            "asset_ids": list(asset_ids),
            "primary_asset_id": asset_ids[0],
        }
        return self.request("POST", "/products", body)

    def photoshoot(self, product_ids: Sequence[str], **options: Any) -> list[Json]:
        """Order a photoshoot, wait for it, and return the Assets of the outputs that were completed."""
        body = {"product_ids": list(product_ids), **PHOTOSHOOT, **options}
        generation = self.request("POST", "/generations/product-photography", body)
        done = self.wait_for(f"/generations/{generation['id']}")
        completed = [
            output["asset"]["id"]
            for output in done["outputs"]
            if output["status"] == "completed"
        ]
        if not completed:
            error = done["outputs"][0].get("error")
            raise WorkFailed(f"every output of {generation['id']} failed: {error}")
        return [self.request("GET", f"/assets/{asset_id}") for asset_id in completed]

    def download(self, asset: Json) -> bytes:
        """Fetch the picture of an Asset."""

        def whole(response: httpx.Response) -> bytes:
            if len(response.content) != asset["size_bytes"]:
                raise ValueError(
                    f"{len(response.content)} of {asset['size_bytes']} bytes"
                )
            return response.content

        return bytes(
            self._answer(
                lambda: self._links.get(asset["url"], follow_redirects=True),
                whole,
            ).body
        )

    def list_all(self, path: str, **filters: Any) -> list[Json]:
        """Read a list page after page, to its end. Begin again if the service no longer knows the cursor."""
        found: list[Json] = []
        cursor: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            try:
                # A cursor belongs to the filters of the list that gave it.
                page = self._ask("GET", path, query=filters | cursor).body
            except Refused as refused:
                if refused.code != "invalid_cursor" or not cursor:
                    raise
                found = []
                cursor = {}
                continue
            found += page["data"]
            if not page["page"]["has_more"]:
                return found
            cursor = {"after": page["page"]["next_cursor"]}
        raise Unfinished(f"{path} had no end after {MOST_PAGES} pages")

    def wait_for(self, path: str) -> Json:
        """Poll an Operation or a Generation until it has ended, as often as the service suggests. Raises Unfinished."""
        waited = 0.0
        while True:
            answer = self._ask("GET", path)
            work: Json = answer.body
            if work["status"] in ("completed", "failed"):
                return work
            pause = _retry_after(answer.headers, otherwise=2.0)
            waited += max(pause, LEAST_PER_POLL_SECONDS)
            if waited > self._patience:
                raise Unfinished(
                    f"{path} was still {work['status']} after {self._patience:g} s"
                )
            time.sleep(pause)

    def request(
        self,
        method: str,
        path: str,
        body: Json | None = None,
    ) -> Json:
        """Send one logical request, repeated until it is answered for good. Raises Refused, Unanswered, Unfinished."""
        return dict(self._ask(method, path, body).body)

    # How it asks ----------------------------------------------------------------------------------------------------

    def _ask(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        query: Json | None = None,
    ) -> Answer:
        """Send a request to the API; where an Operation is in the way, wait for its end first."""
        for attempt in range(1, self._attempts + 1):
            try:
                return self._ask_with_one_key(method, path, body, query)
            except Refused as refused:
                if (
                    refused.code != "resource_operation_in_progress"
                    or attempt == self._attempts
                ):
                    raise
                self.wait_for(f"/operations/{refused.problem['active_operation_id']}")
        raise AssertionError("the last attempt returns or raises")

    def _ask_with_one_key(
        self,
        method: str,
        path: str,
        body: Json | None,
        query: Json | None,
    ) -> Answer:
        """Send a request to the API until it is answered for good; what follows a refusal is another request."""
        # One key for all attempts: a write whose answer was lost is then not done twice.
        headers = (
            {"Idempotency-Key": str(uuid.uuid4())}
            if method in ("POST", "PATCH")
            else {}
        )

        def send() -> httpx.Response:
            return self._api.request(
                method,
                path,
                json=body,
                params=query,
                headers=headers,
            )

        return self._answer(send, _read_object)

    def _send_bytes(self, recipe: Json, photo: bytes) -> Json:
        method = recipe["method"]
        url = recipe["url"]
        headers = recipe["headers"]
        return dict(
            self._answer(
                lambda: self._links.request(
                    method,
                    url,
                    content=photo,
                    headers=headers,
                ),
                _read_object,
            ).body
        )

    def _answer(
        self,
        send: Callable[[], httpx.Response],
        read: Callable[[httpx.Response], Any],
    ) -> Answer:
        """Send until there is an answer that repetition cannot change, or no attempt is left."""
        for attempt in range(1, self._attempts + 1):
            pause = min(0.5 * 2**attempt, LONGEST_PAUSE_SECONDS) * random.uniform(
                0.5,
                1,
            )
            failure: Refused | Unanswered
            try:
                response = send()
                if response.is_success:
                    return Answer(response.headers, read(response))
                failure = Refused(response.status_code, _read_object(response))
                is_repeatable = failure.code in REPEATABLE or failure.status >= 500
                pause = _retry_after(response.headers, otherwise=pause)
            except (
                httpx.RequestError,
                ValueError,
            ) as error:  # broken off, silent, cut short, or not to be read
                failure = Unanswered(f"{type(error).__name__}: {error}")
                is_repeatable = True
            if not is_repeatable or attempt == self._attempts or pause > self._patience:
                raise failure
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")


def _read_object(response: httpx.Response) -> Json:
    """Return the JSON object of a body; a 204 has none. Raises ValueError for anything else."""
    content = {} if response.status_code == httpx.codes.NO_CONTENT else response.json()
    if isinstance(content, dict):
        return content
    raise ValueError("the body is no JSON object")


def _retry_after(headers: httpx.Headers, otherwise: float) -> float:
    told = headers.get("retry-after", "")
    return float(told) if told.isdigit() else otherwise

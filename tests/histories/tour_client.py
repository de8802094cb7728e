"""A client as the documentation teaches it: fresh keys, honest polling, and a look at every answer.

It waits only as long as `Retry-After` says, which under the `auto` clock is no time at all: so it never sleeps.
"""

from collections.abc import Iterator
from typing import Any

import httpx

from tests.histories.emulator_process import EmulatorProcess
from tests.support.contract_check import Exchange, shipped_checker

FULL_KEY = "iwe_demo_full"
POLL_LIMIT = 50
"""Polls after which work counts as hung; an `auto` clock needs one for each of its changes."""

Json = dict[str, Any]


class TourClient:
    """One credential's way into the service."""

    def __init__(self, emulator: EmulatorProcess, key: str = FULL_KEY) -> None:
        self._key = key
        self._requests_sent = 0
        self._api = httpx.Client(base_url=emulator.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=30)
        self._links = httpx.Client(timeout=30)

    def close(self) -> None:
        """Close the connections."""
        self._api.close()
        self._links.close()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        idempotency_key: str | None = None,
        query: dict[str, str | int] | None = None,
    ) -> httpx.Response:
        """Send one request and check its answer; writes get a key of their own, a rate limit is waited for."""
        headers = {}
        if method in ("POST", "PATCH"):
            self._requests_sent += 1
            headers["Idempotency-Key"] = idempotency_key or f"{self._key}-{self._requests_sent}"
        while True:
            response = self._api.request(method, path, json=body, headers=headers, params=query or None)
            answered = response.headers.multi_items()
            shipped_checker().check(Exchange(method, path, response.status_code, answered, response.content))
            if response.status_code != 429 or response.json()["code"] != "rate_limited":
                return response
            assert response.headers["retry-after"] == "0"

    def read(self, path: str, **query: str | int) -> Json:
        """GET what is there."""
        response = self.request("GET", path, query=query)
        assert response.status_code == 200, response.text
        return dict(response.json())

    def write(self, method: str, path: str, body: Any = None, status: int = 200) -> Json:
        """Write something that must succeed with the given status."""
        response = self.request(method, path, body)
        assert response.status_code == status, response.text
        return dict(response.json()) if response.content else {}

    def refusal(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Send what must be refused; return status and code."""
        response = self.request(method, path, body)
        assert response.headers["content-type"] == "application/problem+json", response.text
        problem = response.json()
        assert problem["request_id"] == response.headers["request-id"]
        return response.status_code, problem["code"]

    def finish(self, path: str) -> Json:
        """Poll work until it is done."""
        for _ in range(POLL_LIMIT):
            response = self.request("GET", path)
            assert response.status_code == 200, response.text
            work = dict(response.json())
            if work["status"] in ("completed", "failed"):
                assert "retry-after" not in response.headers
                return work
            assert response.headers["retry-after"] == "0"
        raise AssertionError(f"{path} did not end within {POLL_LIMIT} polls")

    def upload(self, data: bytes, content_type: str) -> Json:
        """Bring a file in: session, bytes to the signed address, exchange of the token."""
        session = self.write("POST", "/uploads", {"content_type": content_type, "size_bytes": len(data)}, 201)
        return self.write("POST", f"/uploads/{session['id']}/complete", self.send_bytes(session, data), 201)

    def send_bytes(self, session: Json, data: bytes) -> Json:
        """Send a file's bytes to the signed address of its session; return the answer with the token."""
        recipe = session["upload"]
        sent = self._links.request(recipe["method"], recipe["url"], content=data, headers=recipe["headers"])
        assert sent.status_code == 200, sent.text
        return dict(sent.json())

    def author(self, path: str, body: Any) -> Json:
        """Have an ingredient made; return its finished Operation."""
        response = self.request("POST", path, body)
        assert response.status_code == 202, response.text
        operation = response.json()
        assert response.headers["location"] == f"{self._api.base_url}operations/{operation['id']}"
        return self.finish(f"/operations/{operation['id']}")

    def generate(self, workflow: str, body: Any) -> Json:
        """Have pictures made; return the finished Generation."""
        generation = self.write("POST", f"/generations/{workflow}", body, 202)
        return self.finish(f"/generations/{generation['id']}")

    def follow(self, url: str, method: str = "GET", **headers: str) -> httpx.Response:
        """Follow a link as anybody can who has it: without the credential."""
        return self._links.request(method, url, headers=headers)

    def download(self, asset: Json) -> bytes:
        """Return the file of an Asset, which must be what the Asset says."""
        response = self.follow(asset["url"])
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == f"image/{asset['format']}"
        assert len(response.content) == asset["size_bytes"]
        return response.content

    def outputs(self, generation: Json) -> list[Json]:
        """Return the Assets of a Generation's slots, in their order."""
        return [self.read(f"/assets/{output['asset']['id']}") for output in generation["outputs"]]

    def pages(self, path: str, **query: str | int) -> Iterator[Json]:
        """Walk through a collection, page after page."""
        after: dict[str, str] = {}
        while True:
            answer = self.read(path, **query, **after)
            yield from answer["data"]
            if not answer["page"]["has_more"]:
                assert answer["page"]["next_cursor"] == ""
                return
            after = {"after": answer["page"]["next_cursor"]}

    @property
    def credits(self) -> int:
        """The Credits that the Team has left."""
        return int(self.read("/team")["credits"])

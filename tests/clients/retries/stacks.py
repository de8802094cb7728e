"""Clients on the retry libraries of PyPI: an errand with each, in sandboxes one after another.

Run as `stacks.py LIBRARY` with lines `BASE_URL KEY` on standard input; says `done` after each. The remedies that the
examiner names are expressions of these libraries: here they make the clients (`REMEDIES`, by library, as JSON).
"""

import asyncio
import json
import os
import random
import sys
import time
import uuid
from collections.abc import Callable
from typing import Any

SPEED = float(os.environ["SPEED"])
REMEDIES = json.loads(os.environ["REMEDIES"])
_sleep, _asleep = time.sleep, asyncio.sleep
time.sleep = lambda seconds: _sleep(seconds / SPEED)
asyncio.sleep = lambda seconds, result=None: _asleep(seconds / SPEED, result)

import aiohttp  # noqa: E402 (the libraries are to sleep as long as the emulator's clock runs)
import aiohttp_retry  # noqa: E402
import httpx  # noqa: E402
import httpx_retries  # noqa: E402, F401
import requests  # noqa: E402
import requests.adapters  # noqa: E402
import urllib3  # noqa: E402

LIMIT = 2.0
Answer = tuple[int, dict[str, str], bytes]
Send = Callable[[str, str, Any, dict[str, str]], Answer]


def named(name: str, key: str) -> Any:
    """Evaluate what a remedy says of a library."""
    return eval(
        REMEDIES[key].partition("; ")[0], {**vars(sys.modules[name]), **globals()}
    )


def with_urllib3() -> Send:
    retries = named("urllib3", "python-urllib3").new(raise_on_status=False)
    pool = urllib3.PoolManager(retries=retries, timeout=LIMIT)

    def send(method: str, url: str, body: Any, headers: dict[str, str]) -> Answer:
        kind = (
            {"body": body}
            if isinstance(body, bytes) or body is None
            else {"json": body}
        )
        answer = pool.request(
            method, url, headers=headers | {"User-Agent": "python-urllib3/2"}, **kind
        )
        return (
            answer.status,
            {name.lower(): value for name, value in answer.headers.items()},
            answer.data,
        )

    return send


def with_requests() -> Send:
    session = requests.Session()
    adapter = named("requests.adapters", "python-requests")
    adapter.max_retries = adapter.max_retries.new(raise_on_status=False)
    session.mount("http://", adapter)

    def send(method: str, url: str, body: Any, headers: dict[str, str]) -> Answer:
        kind = {"data": body} if isinstance(body, bytes) else {"json": body}
        answer = session.request(method, url, headers=headers, timeout=LIMIT, **kind)
        return (
            answer.status_code,
            {name.lower(): value for name, value in answer.headers.items()},
            answer.content,
        )

    return send


def with_httpx_retries() -> Send:
    transport = named("httpx_retries", "python-httpx")
    client = httpx.Client(transport=transport, timeout=LIMIT)

    def send(method: str, url: str, body: Any, headers: dict[str, str]) -> Answer:
        kind = {"content": body} if isinstance(body, bytes) else {"json": body}
        answer = client.request(method, url, headers=headers, **kind)
        return answer.status_code, dict(answer.headers), answer.content

    return send


class Heeding(aiohttp_retry.JitterRetry):
    """What the remedy calls its get_timeout."""

    def get_timeout(
        self, attempt: int, response: aiohttp.ClientResponse | None = None
    ) -> float:
        told = response is not None and response.headers.get("Retry-After")
        return float(told) if told else super().get_timeout(attempt, response)


def with_aiohttp_retry() -> Send:
    options = named("aiohttp_retry", "aiohttp")
    options.__class__ = Heeding
    runner = asyncio.Runner()

    async def ask(method: str, url: str, body: Any, headers: dict[str, str]) -> Answer:
        kind = {"data": body} if isinstance(body, bytes) else {"json": body}
        async with clients[0].request(method, url, headers=headers, **kind) as answer:
            told = {name.lower(): value for name, value in answer.headers.items()}
            return answer.status, told, await answer.read()

    async def begin() -> aiohttp_retry.RetryClient:
        return aiohttp_retry.RetryClient(
            retry_options=options, timeout=aiohttp.ClientTimeout(LIMIT)
        )

    clients = [runner.run(begin())]
    return lambda *request: runner.run(ask(*request))


LIBRARIES: dict[str, Callable[[], Send]] = {
    "urllib3": with_urllib3,
    "requests": with_requests,
    "httpx-retries": with_httpx_retries,
    "aiohttp-retry": with_aiohttp_retry,
}


class Stop(Exception):
    """Something was refused for good, or lost."""


class Client:
    """Does what a program would do, on one of the libraries."""

    def __init__(self, send: Send, base_url: str, key: str) -> None:
        self.send, self.base_url, self.authorization = (
            send,
            base_url,
            {"Authorization": f"Bearer {key}"},
        )

    def persist(
        self,
        method: str,
        url: str,
        body: Any,
        headers: dict[str, str],
        *,
        is_json: bool = True,
    ) -> Answer:
        """Ask, and ask again what was lost or is not readable: the libraries differ in what they repeat."""
        for attempt in range(3):
            try:
                answer = self.send(method, url, body, headers)
                if answer[0] >= 400:
                    raise Stop(answer[0], url)
                if is_json:
                    json.loads(answer[2])
            except Stop:
                raise
            except Exception:
                time.sleep(random.uniform(1, 2) * 4 * 2**attempt)
            else:
                return answer
        raise Stop("lost", url)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Call an operation; a write has a key of its own."""
        headers = self.authorization | (
            {} if method == "GET" else {"Idempotency-Key": str(uuid.uuid4())}
        )
        return json.loads(self.persist(method, self.base_url + path, body, headers)[2])

    def upload(self, photo: bytes) -> str:
        """Upload a picture, and return the id of its Asset."""
        opened = self.ask(
            "POST", "/uploads", {"content_type": "image/png", "size_bytes": len(photo)}
        )
        target = opened["upload"]
        token = json.loads(
            self.persist(target["method"], target["url"], photo, target["headers"])[2]
        )["upload_token"]
        return str(
            self.ask(
                "POST", f"/uploads/{opened['id']}/complete", {"upload_token": token}
            )["id"]
        )

    def errand(self) -> None:
        """Upload a picture, have it enlarged, wait for it, and fetch the result; stop where something is refused."""
        self.ask("GET", "/team")
        asset = self.upload(bytes.fromhex(os.environ["PHOTO"]))
        body = {"asset_id": asset, "target_resolution": "2k", "output_format": "png"}
        url = f"{self.base_url}/generations/{self.ask('POST', '/generations/upscale', body)['id']}"
        for _ in range(60):
            _, headers, content = self.persist("GET", url, None, self.authorization)
            look = json.loads(content)
            if look["status"] in ("completed", "failed"):
                break
            time.sleep(float(headers.get("retry-after", 2)))
        for output in look["outputs"]:
            if output.get("asset"):
                picture = self.ask("GET", f"/assets/{output['asset']['id']}")
                self.persist("GET", picture["url"], None, {}, is_json=False)


for line in sys.stdin:
    try:
        Client(LIBRARIES[sys.argv[1]](), *line.split()).errand()
        print("done", flush=True)
    except Stop as stopped:
        print("stopped", *stopped.args, flush=True)

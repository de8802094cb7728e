"""Clients on the retry libraries of PyPI: an errand in one sandbox after another.

Run as `stacks.py LIBRARY` with lines `BASE_URL KEY` on standard input; it writes `done`
after each. The remedies that the examiner names are expressions of these libraries:
here they make the clients (`REMEDIES`, by library, as JSON).
"""

import asyncio
import json
import os
import random
import sys
import time
import uuid
from collections.abc import Callable
from types import ModuleType
from typing import Any

SPEED = float(os.environ["SPEED"])
REMEDIES = json.loads(os.environ["REMEDIES"])
_sleep = time.sleep
_sleep_in_loop = asyncio.sleep
time.sleep = lambda seconds: _sleep(seconds / SPEED)
asyncio.sleep = lambda seconds, result=None: _sleep_in_loop(seconds / SPEED, result)

# The libraries, which are imported now, sleep as long as the emulator's clock runs.
import aiohttp  # noqa: E402
import aiohttp_retry  # noqa: E402
import httpx  # noqa: E402
import httpx_retries  # noqa: E402
import requests  # noqa: E402
import requests.adapters  # noqa: E402
import urllib3  # noqa: E402

LIMIT = 2.0
Answer = tuple[int, dict[str, str], bytes]
Send = Callable[[str, str, Any, dict[str, str]], Answer]


def remedy_of(library: str, module: ModuleType) -> Any:
    """Evaluate what a remedy says of a library, with the names of its module."""
    expression = REMEDIES[library].partition("; ")[0]
    return eval(expression, {**vars(module), **globals()})


def lower_case(headers: Any) -> dict[str, str]:
    """Return headers by their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}


def content_of(body: Any, name: str) -> dict[str, Any]:
    """Return a body as the argument that it is for a library: JSON, or bytes under the
    name that the library has for them.
    """
    if isinstance(body, bytes):
        return {name: body}
    return {"json": body}


def with_urllib3() -> Send:
    retries = remedy_of("python-urllib3", urllib3)
    retries = retries.new(raise_on_status=False)
    pool = urllib3.PoolManager(retries=retries, timeout=LIMIT)

    def send(
        method: str,
        url: str,
        body: Any,
        headers: dict[str, str],
    ) -> Answer:
        all_headers = {**headers, "User-Agent": "python-urllib3/2"}
        content = content_of(body, "body")
        answer = pool.request(method, url, headers=all_headers, **content)
        return answer.status, lower_case(answer.headers), answer.data

    return send


def with_requests() -> Send:
    session = requests.Session()
    adapter = remedy_of("python-requests", requests.adapters)
    adapter.max_retries = adapter.max_retries.new(raise_on_status=False)
    session.mount("http://", adapter)

    def send(
        method: str,
        url: str,
        body: Any,
        headers: dict[str, str],
    ) -> Answer:
        content = content_of(body, "data")
        answer = session.request(
            method,
            url,
            headers=headers,
            timeout=LIMIT,
            **content,
        )
        return answer.status_code, lower_case(answer.headers), answer.content

    return send


def with_httpx_retries() -> Send:
    transport = remedy_of("python-httpx", httpx_retries)
    client = httpx.Client(transport=transport, timeout=LIMIT)

    def send(
        method: str,
        url: str,
        body: Any,
        headers: dict[str, str],
    ) -> Answer:
        content = content_of(body, "content")
        answer = client.request(method, url, headers=headers, **content)
        return answer.status_code, dict(answer.headers), answer.content

    return send


class Heeding(aiohttp_retry.JitterRetry):
    """What the remedy calls its get_timeout."""

    def get_timeout(
        self,
        attempt: int,
        response: aiohttp.ClientResponse | None = None,
    ) -> float:
        if response is not None and "Retry-After" in response.headers:
            return float(response.headers["Retry-After"])
        return super().get_timeout(attempt, response)


def with_aiohttp_retry() -> Send:
    options = remedy_of("aiohttp", aiohttp_retry)
    options.__class__ = Heeding
    runner = asyncio.Runner()

    async def begin() -> aiohttp_retry.RetryClient:
        timeout = aiohttp.ClientTimeout(LIMIT)
        return aiohttp_retry.RetryClient(retry_options=options, timeout=timeout)

    client = runner.run(begin())

    async def ask(
        method: str,
        url: str,
        body: Any,
        headers: dict[str, str],
    ) -> Answer:
        content = content_of(body, "data")
        async with client.request(method, url, headers=headers, **content) as answer:
            received = await answer.read()
            return answer.status, lower_case(answer.headers), received

    def send(
        method: str,
        url: str,
        body: Any,
        headers: dict[str, str],
    ) -> Answer:
        return runner.run(ask(method, url, body, headers))

    return send


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

    def __init__(
        self,
        send: Send,
        base_url: str,
        key: str,
    ) -> None:
        self.send = send
        self.base_url = base_url
        self.authorization = {"Authorization": f"Bearer {key}"}

    def persist(
        self,
        method: str,
        url: str,
        body: Any,
        headers: dict[str, str],
        *,
        is_json: bool = True,
    ) -> Answer:
        """Ask, and ask again what was lost or is not readable.

        The libraries differ in what they repeat.
        """
        for attempt in range(3):
            try:
                status, answered, content = self.send(method, url, body, headers)
                if status >= 400:
                    raise Stop(status, url)
                if is_json:
                    json.loads(content)
            except Stop:
                raise
            except Exception:
                time.sleep(random.uniform(1, 2) * 4 * 2**attempt)
            else:
                return status, answered, content
        raise Stop("lost", url)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
    ) -> Any:
        """Call an operation; a write has a key of its own."""
        headers = dict(self.authorization)
        if method != "GET":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        url = self.base_url + path
        _, _, content = self.persist(method, url, body, headers)
        return json.loads(content)

    def upload(self, photo: bytes) -> str:
        """Upload a picture, and return the id of its Asset."""
        announced = {"content_type": "image/png", "size_bytes": len(photo)}
        session = self.ask("POST", "/uploads", announced)
        upload = session["upload"]
        _, _, content = self.persist(
            upload["method"],
            upload["url"],
            photo,
            upload["headers"],
        )
        token = {"upload_token": json.loads(content)["upload_token"]}
        asset = self.ask("POST", f"/uploads/{session['id']}/complete", token)
        return str(asset["id"])

    def errand(self) -> None:
        """Upload a picture, have it enlarged, and fetch the result.

        It stops where something is refused.
        """
        self.ask("GET", "/team")
        photo = bytes.fromhex(os.environ["PHOTO"])
        order = {
            "asset_id": self.upload(photo),
            "target_resolution": "2k",
            "output_format": "png",
        }
        generation = self.ask("POST", "/generations/upscale", order)
        for output in self.outputs_of(generation["id"]):
            if output.get("asset"):
                picture = self.ask("GET", f"/assets/{output['asset']['id']}")
                self.persist("GET", picture["url"], None, {}, is_json=False)

    def outputs_of(self, generation_id: str) -> Any:
        """Poll a Generation as Retry-After says until it ends."""
        url = f"{self.base_url}/generations/{generation_id}"
        for _ in range(60):
            _, headers, content = self.persist("GET", url, None, self.authorization)
            generation = json.loads(content)
            if generation["status"] in ("completed", "failed"):
                break
            time.sleep(float(headers.get("retry-after", 2)))
        return generation["outputs"]


make_send = LIBRARIES[sys.argv[1]]
for line in sys.stdin:
    base_url, key = line.split()
    client = Client(make_send(), base_url, key)
    try:
        client.errand()
        print("done", flush=True)
    except Stop as stopped:
        print("stopped", *stopped.args, flush=True)

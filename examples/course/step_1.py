"""An answer may be lost: each attempt has the key of the first."""

import json
from collections.abc import Mapping

import httpx
import step_0
from step_0 import Json


class Client(step_0.Client):
    def ask(
        self,
        method: str,
        path: str,
        body: Json | None = None,
    ) -> Json:
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
        for _ in range(2):
            try:
                return super().send(method, url, headers, content)
            except (
                httpx.RequestError,
                ValueError,
            ):  # no answer, or one that cannot be read
                continue
        return super().send(method, url, headers, content)

"""The service may be busy: wait as long as it says, and send the same request again."""

import random
import time
from collections.abc import Mapping

import step_1
from step_0 import Json, Refused

REPEATABLE = {
    "rate_limited",
    "concurrency_limit_reached",
    "service_unavailable",
    "internal_error",
    "idempotency_in_progress",
}


class Client(step_1.Client):
    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
    ) -> Json:
        for attempt in range(5):
            try:
                return super().send(method, url, headers, content)
            except Refused as refused:
                if refused.code not in REPEATABLE:
                    raise
                time.sleep(
                    float(refused.retry_after or 2**attempt * random.uniform(0.2, 0.4))
                )
        return super().send(method, url, headers, content)

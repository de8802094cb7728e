"""What a tour does beside the generated client: raw bytes to and from signed addresses, waiting, and the report of what it saw.

Knows nothing of any client. What goes over these addresses is not in the contract, so no generator makes it.
"""

import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeVar

BASE_URL = os.environ["IMAGE_WORKFLOW_BASE_URL"]
API_KEY = os.environ["IMAGE_WORKFLOW_API_KEY"]
PHOTO = Path(os.environ["TOUR_PHOTO"]).read_bytes()
MAX_POLLS = 50


class Work(Protocol):
    """An Operation or Generation of any client."""

    @property
    def status(self) -> Enum: ...


SomeWork = TypeVar("SomeWork", bound=Work)


def send_bytes(method: str, url: str, headers: Mapping[str, str], data: bytes) -> str:
    """Send raw bytes as an Upload Session asks; return the upload token."""
    request = urllib.request.Request(url, data, dict(headers), method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(json.load(answer)["upload_token"])


def is_whole(url: str, size_bytes: int) -> bool:
    """Fetch a public file; tell whether it is as large as was said."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        return len(answer.read()) == size_bytes


def wait_for(look: Callable[[], tuple[SomeWork, str | None]]) -> tuple[SomeWork, int]:
    """Look at work, as often as its Retry-After says, until it is completed; return it, and how often it was looked at."""
    for polls in range(1, MAX_POLLS):
        work, retry_after = look()
        if work.status.value == "completed":
            return work, polls
        assert retry_after is not None, "unfinished work does not say when to look again"
        time.sleep(int(retry_after))
    raise AssertionError("the work does not end")


def tell(**report: object) -> None:
    """End the tour with what was seen, as one line of JSON."""
    sys.stdout.write(json.dumps(report, sort_keys=True) + "\n")

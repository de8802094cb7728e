"""What a tour does beside the generated client: raw bytes to and from signed addresses, and the report of what it saw.

Knows nothing of any client. What goes over these addresses is not in the contract, so no generator makes it.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path

BASE_URL = os.environ["IMAGE_WORKFLOW_BASE_URL"]
API_KEY = os.environ["IMAGE_WORKFLOW_API_KEY"]
PHOTO = Path(os.environ["TOUR_PHOTO"]).read_bytes()
MOST_POLLS = 50


def send_bytes(method: str, url: str, headers: Mapping[str, str], data: bytes) -> str:
    """Send raw bytes as an Upload Session asks; return the upload token."""
    request = urllib.request.Request(url, data, dict(headers), method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(json.load(answer)["upload_token"])


def download(url: str) -> bytes:
    """Fetch a public file."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        content: bytes = answer.read()
    return content


def seconds_to_wait(retry_after: str | None) -> int:
    """Read the Retry-After of unfinished work, which must have one."""
    if retry_after is None:
        raise AssertionError("unfinished work does not say when to look again")
    return int(retry_after)


def tell(**report: object) -> None:
    """End the tour with what was seen, as one line of JSON."""
    sys.stdout.write(json.dumps(report, sort_keys=True) + "\n")

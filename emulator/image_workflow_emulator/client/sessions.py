"""A session: what the control plane answers at one moment, to be viewed again.

`Open file` of the page shows it. It is JSON with `format`, `version`, `sandbox`,
`answers` (by path; of requests the newest, each with its explanation), `pictures` (by id,
as data URLs) and `left_out` (how many requests and pictures are not in it). No key of the
sandbox is whole in it. This file must not know what an answer says, but where requests
and pictures are.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from image_workflow_emulator.client.control_client import (
    DEFAULT_SANDBOX,
    MAX_REQUESTS,
    ControlClient,
)
from image_workflow_emulator.client.local_files import is_refusal

__tracebackhide__ = is_refusal

MAX_PICTURE_BYTES: Final = 8 * 2**20
"""Limit of the pictures of a session, the newest first."""
_ANSWERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "clock": {},
    "readings": {},
    "scenario": {},
    "teams": {},
    "coverage": {},
    "conduct": {"ended": True},
    "requests": {"limit": MAX_REQUESTS},
    "work": {"limit": MAX_REQUESTS},
    "assets": {"limit": MAX_REQUESTS},
}
"""The paths that a session has answers of, and the query of each."""


class _Picture(NamedTuple):
    """A picture that an answer names."""

    url: str
    format: str


def session_of(plane: ControlClient) -> bytes:
    """Return the session of a sandbox. Raises EmulatorError."""
    from image_workflow_emulator.control.masks import Masks

    answers = {
        path: plane.call("GET", path, query=query) for path, query in _ANSWERS.items()
    }
    keys = _take_keys(answers)
    left_out_requests = _add_explanations(plane, answers["requests"])
    pictures = _pictures_of(answers)
    contents = _contents_of(plane, pictures)
    session = {
        "format": "image-workflow-emulator session",
        "version": 1,
        "sandbox": plane.sandbox or DEFAULT_SANDBOX,
        "left_out": {
            "requests": left_out_requests,
            "pictures": len(pictures) - len(contents),
        },
        "answers": answers,
    }
    masked = Masks(keys).of_text(json.dumps(session))
    # Pictures are put in afterwards: a mask would search megabytes of base64 for keys.
    return f'{masked[:-1]}, "pictures": {json.dumps(contents)}}}\n'.encode()


def _take_keys(answers: dict[str, dict[str, Any]]) -> list[str]:
    """Take the keys out of the answers, and return them."""
    # The timeline of a scenario has keys in the form of the world file.
    scenario = answers["scenario"]
    answers["scenario"] = {
        "scenario": scenario["scenario"],
        "team_scenarios": scenario["team_scenarios"],
    }
    keys: list[str] = []
    for team in answers["teams"]["data"]:
        for credential in team["credentials"]:
            key = credential.pop("key")
            keys.append(key)
    return keys


def _add_explanations(plane: ControlClient, page: dict[str, Any]) -> int:
    """Replace the requests of a page by explained ones.

    Returns how many requests are not on the page.
    """
    left_out = page["dropped"] + page["total"] - len(page["data"])
    page["data"] = [
        plane.call("GET", f"requests/{entry['sequence']}") for entry in page["data"]
    ]
    return int(left_out)


def _pictures_of(answers: Mapping[str, Mapping[str, Any]]) -> list[_Picture]:
    """Return the pictures of Assets and then of ingredients, the newest first."""
    pictures = [
        _Picture(asset["url"], asset["format"]) for asset in answers["assets"]["data"]
    ]
    for work in answers["work"]["data"]:
        urls = work.get("pictures", ())
        pictures.extend(_Picture(url, "png") for url in urls)
    return pictures


def _contents_of(plane: ControlClient, pictures: list[_Picture]) -> dict[str, str]:
    """Return as many pictures as a session holds, as data URLs, by their ids."""
    contents: dict[str, str] = {}
    size_bytes = 0
    for picture in pictures:
        picture_id = picture.url.rpartition("/")[2]
        data = plane.exchange("GET", f"pictures/{picture_id}")
        size_bytes += len(data)
        if size_bytes > MAX_PICTURE_BYTES:
            break
        encoded = b64encode(data).decode()
        contents[picture_id] = f"data:image/{picture.format};base64,{encoded}"
    return contents

"""A sandbox as a file: its state, to be loaded again, or where the name ends in `.json` a session, to be viewed.

A session is what the control plane answers at one moment, for `Open file` of the page to show again: JSON with
`format`, `version`, `sandbox`, `answers` (by path, of requests the newest, each with its explanation), `pictures` (by
id, as data URLs) and `left_out` (how many requests and pictures are not in it). No key of the sandbox is whole in it.
Must not know what an answer says, but where requests and pictures are.
"""

import json
from base64 import b64encode
from typing import Final

from image_workflow_emulator.testing.control_client import DEFAULT_SANDBOX, MAX_REQUESTS, STATE_SECONDS, ControlClient
from image_workflow_emulator.testing.errors import is_refusal

__tracebackhide__ = is_refusal

FORMAT: Final = "image-workflow-emulator session"
VERSION: Final = 1
MAX_PICTURE_BYTES: Final = 8 * 2**20
"""Limit of the pictures of a session, the newest first."""
_ANSWERS: Final = (
    *("clock", "readings", "scenario", "teams", "coverage", "conduct?ended=true"),
    *(f"{name}?limit={MAX_REQUESTS}" for name in ("requests", "work", "assets")),
)
"""The paths that a session has answers of."""


def saved_sandbox(plane: ControlClient, name: str) -> bytes:
    """Return a sandbox as the content of a file of this name. Raises EmulatorError."""
    return _session(plane) if name.endswith(".json") else plane.exchange("GET", "state", seconds=STATE_SECONDS)


def _session(plane: ControlClient) -> bytes:
    from image_workflow_emulator.control.describing import Masks

    answers = {path.partition("?")[0]: plane.call("GET", path) for path in _ANSWERS}
    running, teams, page = answers["scenario"], answers["teams"]["data"], answers["requests"]
    # No more of it: its timeline has keys in the form of the world file.
    answers["scenario"] = {name: running[name] for name in ("scenario", "team_scenarios")}
    keys = [credential.pop("key") for team in teams for credential in team["credentials"]]
    more = page["dropped"] + page["total"] - len(page["data"])
    page["data"] = [plane.call("GET", f"requests/{entry['sequence']}") for entry in page["data"]]
    # Newest first, those of Assets and then of ingredients, each with its format.
    urls = [(asset["url"], asset["format"]) for asset in answers["assets"]["data"]]
    urls += [(url, "png") for work in answers["work"]["data"] for url in work.get("pictures", ())]
    pictures, more_pictures = _pictures(plane, urls)
    session = {
        "format": FORMAT,
        "version": VERSION,
        "sandbox": plane.sandbox or DEFAULT_SANDBOX,
        "left_out": {"requests": more, "pictures": more_pictures},
        "answers": answers,
    }
    return f'{Masks(keys).of_text(json.dumps(session))[:-1]}, "pictures": {json.dumps(pictures)}}}\n'.encode()


def _pictures(plane: ControlClient, urls: list[tuple[str, str]]) -> tuple[dict[str, str], int]:
    """Return the first pictures as data URLs, as many as a session holds, and how many there are more."""
    found: dict[str, str] = {}
    size_bytes = 0
    for url, kind in urls:
        name = url.rpartition("/")[2]
        data = plane.exchange("GET", f"pictures/{name}")
        size_bytes += len(data)
        if size_bytes > MAX_PICTURE_BYTES:
            break
        found[name] = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return found, len(urls) - len(found)

"""A session: what the control plane answers at one moment, as one file for `Open file`
of the page.

Owns which answers it has: every one that the page asks for. It is to be looked at, and
contains no whole key.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec
from msgspec import Struct
from starlette.responses import Response

from image_workflow_emulator.control import (
    admission,
    assets,
    clock,
    examination,
    journal,
    ledger,
    readings,
    scenarios,
    teams,
    work,
)
from image_workflow_emulator.control.endpoint import ControlCall, in_slices
from image_workflow_emulator.control.masks import Masks, mask_key
from image_workflow_emulator.control.operations import JSON
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox

FORMAT: Final = "image-workflow-emulator session"
MAX_ENTRIES: Final = 1_000
"""Limit of requests, of work, of Assets, and of each ledger: the newest."""
MAX_PICTURE_BYTES: Final = 8 * 2**20
"""Limit of the pictures of a session, the newest first."""

_MAX_SEQUENCE: Final = 2**53 - 1


class _Pictures(Struct, frozen=True):
    """The pictures of a session as data URLs, by id, and how many it leaves out."""

    urls: Mapping[str, str]
    left_out: int


async def get_session(call: ControlCall) -> Response:
    """GET /session."""
    answers = await _answers(call)
    call.check_unchanged()
    pictures = await _pictures(call, answers)
    call.check_unchanged()
    masks = Masks(_keys_of(call.sandbox))
    masked_answers = masks.of_bytes(msgspec.json.encode(answers))
    session = {
        "format": FORMAT,
        "version": 1,
        "sandbox": call.sandbox.id,
        "left_out": {
            "requests": _requests_left_out(answers["requests"]),
            "pictures": pictures.left_out,
        },
        "answers": msgspec.Raw(masked_answers),
        "pictures": pictures.urls,
    }
    headers = {
        "Content-Disposition": f'attachment; filename="{call.sandbox.id}-session.json"'
    }
    return Response(msgspec.json.encode(session), headers=headers, media_type=JSON)


def _requests_left_out(requests: Mapping[str, Any]) -> int:
    """Return how many requests a session does not have."""
    all_requests: int = requests["dropped"] + requests["total"]
    return all_requests - len(requests["data"])


async def _answers(call: ControlCall) -> dict[str, Any]:
    """Return the answers by their paths; those of one moment come before the first
    wait.
    """
    newest = replace(call, query={"limit": MAX_ENTRIES})
    of_all_teams = replace(call, query={"team": None})
    answers: dict[str, Any] = {
        "clock": clock.get_clock(call),
        "readings": readings.list_readings(call),
        "scenario": scenarios.get_scenario(of_all_teams),
        "admission": admission.get_admission(call),
        "teams": {"data": _teams_without_keys(call.sandbox)},
        "work": work.list_work(newest),
        "assets": assets.list_all_assets(newest),
    }
    answers |= await _ledgers(call)
    answers["requests"] = await _requests(call)
    answers["coverage"] = await examination.get_coverage(call)
    ended = replace(call, query={"ended": "true"})
    answers["conduct"] = await examination.get_conduct(ended)
    return answers


async def _ledgers(call: ControlCall) -> dict[str, Any]:
    """Return the newest changes of each Team's Credits by their path."""
    query = {"before": _MAX_SEQUENCE, "limit": MAX_ENTRIES}
    team_ids = list(call.sandbox.accounts)

    def describe(team_id: str) -> dict[str, Any]:
        parameters = {"team": team_id}
        return ledger.get_ledger(replace(call, query=query, parameters=parameters))

    described = await in_slices(team_ids, describe)
    paths = [f"teams/{team_id}/ledger" for team_id in team_ids]
    return dict(zip(paths, described, strict=True))


def _teams_without_keys(sandbox: Sandbox) -> list[dict[str, Any]]:
    described = teams.describe_teams(sandbox)
    for team in described:
        for credential in team["credentials"]:
            credential["key"] = mask_key(credential["key"])
    return described


async def _requests(call: ControlCall) -> dict[str, Any]:
    """Return the newest requests, each with its explanation."""
    records = call.sandbox.journal
    newest_first = list(records.newest_first(0))
    counts = {
        "last_sequence": records.last_sequence,
        "dropped": records.dropped,
        "total": len(newest_first),
    }
    described = await in_slices(
        newest_first[:MAX_ENTRIES],
        lambda record: journal.describe_entry(call, record),
    )
    return {"data": described, **counts}


def _keys_of(sandbox: Sandbox) -> Iterator[str]:
    """Iterate over the keys of a sandbox, also in the form of a world file, which a
    scenario may have.
    """
    for key in sandbox.credentials:
        yield key
        if sandbox.id != DEFAULT_SANDBOX_ID:
            yield key.removesuffix(f"_{sandbox.id}")


async def _pictures(call: ControlCall, answers: Mapping[str, Any]) -> _Pictures:
    """Draw the pictures of Assets and then of ingredients, newest first, as many as a
    session holds.
    """
    formats = {asset["id"]: asset["format"] for asset in answers["assets"]["data"]}
    for described in answers["work"]["data"]:
        for url in described.get("pictures", ()):
            _, _, key = url.rpartition("/")
            formats[key] = "png"
    urls: dict[str, str] = {}
    size_bytes = 0
    for key, picture_format in formats.items():
        if call.sandbox.images.public(key) is None:
            continue
        data = await call.plane.picture_data(call.sandbox.images, key)
        size_bytes += len(data)
        if size_bytes > MAX_PICTURE_BYTES:
            break
        encoded = b64encode(data).decode()
        urls[key] = f"data:image/{picture_format};base64,{encoded}"
    return _Pictures(urls, left_out=len(formats) - len(urls))

"""A recording sent again to an emulator: with its ids learnt, at its times, in the world that it shows.

What was there before the recording is put into the emulator, as far as calls refer to it: nobody can tell how the
service came by it, so it is as recorded only in what a call depends on, and is not compared. What the service's world
did (a pause, a failed slot, how long work took) is brought about, so that only meanings are left to differ. Owns the
mapping of recorded values to the emulator's own. Compares nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode

import orjson
from msgspec import ValidationError, convert

from image_workflow_emulator.app import Application
from image_workflow_emulator.client.control_client import Answer
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.domain.resources import (
    INGREDIENT_TYPES,
    OPERATION_TYPES,
    WORKFLOWS,
    Asset,
    Product,
)
from image_workflow_emulator.drift.recordings import leaves
from image_workflow_emulator.drift.traffic import RecordedCall, RecordedWork, Traffic
from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.imaging.messages import Head, Message
from image_workflow_emulator.kernel.timestamps import (
    DAY_MS,
    SECOND_MS,
    format_timestamp,
)
from image_workflow_emulator.scenario.scenario import FAILURE_CODES
from image_workflow_emulator.settings import read_settings
from image_workflow_emulator.testing.application import ORIGIN, ask
from image_workflow_emulator.testing.option_texts import option_texts

_TEAM: Final = "Recorded"
_KEY: Final = "iwe_recorded_full"
_AUTHORIZATION: Final = {"authorization": f"Bearer {_KEY}"}
_CREDENTIAL: Final = {"key": _KEY, "name": _TEAM, "profile": "full"}
_RICH_TEAM: Final = {
    "credits": 1_000_000,
    "concurrency_limit": 1_000,
    "credentials": [_CREDENTIAL],
}
_WORLD: Final = {"timings": {"queue": "1ms"}, "teams": {_TEAM: _RICH_TEAM}}
_BY_THE_WORLD: Final = frozenset(
    {
        "service_unavailable",
        "internal_error",
        "rate_limited",
        "concurrency_limit_reached",
        "insufficient_credits",
    }
    | {
        "subscription_required",
        "credential_expired",
        "credential_revoked",
        "idempotency_in_progress",
    }
)
"""Problems that depend on what a recording cannot show: other clients, the Team's account, the state of the service."""
_TYPES: Final[Mapping[str, Any]] = {
    "asset": Asset,
    "product": Product,
    **INGREDIENT_TYPES,
}
_REFERRED: Final = {
    **{f"{kind}_id{plural}": kind for kind in _TYPES for plural in ("", "s")},
    "primary_asset_id": "asset",
}
"""The kind of resource that ids name, by the name of their parameter or member."""
_PREFIXES: Final = {"asset": "ast", "product": "prd"}
_COLLECTIONS: Final = {"asset": "assets", "product": "products"}
Replayed: TypeAlias = tuple[RecordedCall, Answer | None]
"""A call and what the emulator answered to it; None where it could not be asked."""
_PICTURE: Final = {"format": "png", "width": 1_000, "height": 1_000}
_MADE: Final[Mapping[str, Any]] = {
    "source": "upload",
    "source_generation_id": None,
    "source_asset_ids": [],
}
"""The members of every resource that is put into the emulator, as far as its kind has them."""


class DescribedPictures(Helpers):
    """Does the jobs of helper processes with descriptions in place of pictures, which nobody looks at."""

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Answer a job at once."""
        return {"scene": "clean"}, [orjson.dumps(head.get("recipe"))]


class Replay:
    """One replay of a recording, by an emulator with some readings (as `--readings` takes them)."""

    def __init__(self, traffic: Traffic, readings: str) -> None:
        self._traffic = traffic
        self.mapped: dict[str, str] = {}
        """Recorded ids, links and tokens, and what the emulator has in their place."""
        self.stands_for: dict[str, str] = {}
        """The emulator's ids, and the recorded one that each stands for."""
        self.beginning: set[str] = set()
        """The recorded ids of what was there before the recording."""
        known = (*WORKFLOWS, *OPERATION_TYPES)
        self._admitted = {
            call.number: work
            for call, work in traffic.admissions()
            if work.kind in known
        }
        start = format_timestamp(
            min((call.at for call in traffic.calls), default=DAY_MS)
        )
        options = {
            "clock": "manual",
            "start": start,
            "rate_limits": "off",
            "readings": readings,
            "world": _WORLD,
        }
        with option_texts(options) as texts:
            self._application = Application(
                read_settings(texts, {}), DescribedPictures()
            )
        self._sandbox = self._application.sandboxes.default

    async def run(self) -> list[Replayed]:
        """Send every call again, in order."""
        return [await self._send(call) for call in self._traffic.calls]

    # What was there before -------------------------------------------------------------------------------------------

    def _put(self, kind: str, identifier: str) -> str:
        """Put a resource into the emulator as an answer shows it first, and return its id there."""
        if identifier not in self.mapped:
            looks = self._traffic.shown.get((kind, identifier))
            self.mapped[identifier] = own = self._make(
                kind, looks[0].shown if looks else {}
            )
            self.stands_for[own] = identifier
            self.beginning.add(identifier)
        return self.mapped[identifier]

    def _make(self, kind: str, shown: Mapping[str, Any]) -> str:
        """Make a resource, with the format and the size of a picture as shown, if they are possible."""
        sandbox, resource_type = self._sandbox, _TYPES[kind]
        (account,), now = sandbox.find_accounts(_TEAM), sandbox.clock.now()
        team = None if shown.get("scope") == "global" else account.team.id
        identifier = sandbox.identifiers.next(
            _PREFIXES.get(kind) or resource_type.prefix
        )
        own = {
            **_MADE,
            "id": identifier,
            "team_id": team,
            "name": _TEAM,
            "created_at": now,
            "updated_at": now,
        }
        if kind == "product":
            photos = [
                self._put("asset", photo) for photo in shown.get("asset_ids", ())
            ] or [self._make("asset", {})]
            own |= {"asset_ids": photos, "primary_asset_id": photos[0]}
        try:
            made = convert({**_PICTURE, **shown, **own}, resource_type)
        except ValidationError:  # a picture of more pixels than there are
            made = convert({**_PICTURE, **own}, resource_type)
        for key in getattr(made, "picture_keys", [made.id]):
            sandbox.images.put(key, key.encode(), "clean")
        sandbox.store.collections()[_COLLECTIONS.get(kind, kind)].add(made)
        return str(made.id)

    # The calls ------------------------------------------------------------------------------------------------------

    async def _send(self, call: RecordedCall) -> Replayed:
        """Send one call again at its time, after what the service's world did to it was brought about."""
        if call.at > self._sandbox.clock.now():
            await self._control(
                "POST", "/clock/advance", {"to": format_timestamp(call.at)}
            )
        prepared = self._prepare(call)
        if prepared is None:
            return call, None
        work = self._admitted.get(call.number)
        if work is not None:
            await self._control("PUT", "/scenario", _fate(call, work))
        answered = await ask(self._application, *prepared)
        if work is not None:
            await self._control("DELETE", "/scenario")
        self._learn(call, answered)
        return call, answered

    def _prepare(
        self, call: RecordedCall
    ) -> tuple[str, str, dict[str, str], bytes] | None:
        """Return method, path with query, headers and body of the request to send; None where there was no answer, or
        it needs what was before the recording.

        Uploads are not repeated, since nobody can tell what the service makes of a picture: the Asset is put in, and
        read.
        """
        if call.status is None or call.surface == "upload":
            return None
        if call.surface == "download":
            link = self.mapped.get(call.url)
            return (call.method, link.removeprefix(ORIGIN), {}, b"") if link else None
        assert call.operation is not None
        if call.name == "completeUpload":
            asset = call.answer.get("id")
            return (
                (
                    "GET",
                    f"{BASE_PATH}/assets/{self._put('asset', asset)}",
                    _AUTHORIZATION,
                    b"",
                )
                if asset
                else None
            )
        for name, identifier in (*call.parameters.items(), *leaves(call.body)):
            kind = _REFERRED.get(name, "")
            is_there = call.is_success or (kind, identifier) in self._traffic.shown
            if kind and is_there and isinstance(identifier, str):
                self._put(kind, identifier)
        needed = {*call.parameters.values(), call.query.get("after", "")}
        if call.is_success and needed - self.mapped.keys() - {""}:
            return None
        own = {
            name: quote(self.mapped.get(value, value), safe="")
            for name, value in call.parameters.items()
        }
        path = call.operation.path.format_map(own)
        query = urlencode(
            {name: self.mapped.get(value, value) for name, value in call.query.items()}
        )
        headers = {} if call.code == "authentication_required" else dict(_AUTHORIZATION)
        if call.key is not None or (
            call.operation.takes_key and call.status != 400
        ):  # or an exporter dropped it
            headers["idempotency-key"] = call.key or f"recorded-{call.number}"
        if call.request_body is not None:
            headers["content-type"] = call.request_headers.get(
                "content-type", "application/json"
            )
        if call.code in _BY_THE_WORLD and call.code in call.operation.all_codes:
            headers["emulator-fault"] = call.code
        body = (
            orjson.dumps(self._mapped(call.body))
            if call.body
            else call.request_body or b""
        )
        return (
            call.method,
            f"{BASE_PATH}{path}" + (f"?{query}" if query else ""),
            headers,
            body,
        )

    def _mapped(self, value: Any) -> Any:
        """Return some JSON with the emulator's values in place of recorded ones."""
        if isinstance(value, dict):
            return {member: self._mapped(item) for member, item in value.items()}
        if isinstance(value, list):
            return list(map(self._mapped, value))
        return self.mapped.get(value, value) if isinstance(value, str) else value

    # Learning -------------------------------------------------------------------------------------------------------

    def _learn(self, call: RecordedCall, answered: Answer) -> None:
        """Learn which of the emulator's values stand for the recorded ones."""
        if call.is_success and 200 <= answered.status < 300:
            for name, recorded, own in _pairs("", call.answer, answered.json):
                if not is_identifier(name):
                    self.mapped.setdefault(recorded, own)
                elif recorded not in self.mapped and own not in self.stands_for:
                    self.mapped[recorded], self.stands_for[own] = own, recorded
        location = (
            call.response_headers.get("location"),
            answered.headers.get("location"),
        )
        if call.surface == "download" and all(location):
            self.mapped.setdefault(str(location[0]), str(location[1]))

    async def _control(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> None:
        sent = (
            ({"content-type": "application/json"}, orjson.dumps(body))
            if body is not None
            else ({}, b"")
        )
        answered = await ask(self._application, method, f"/_emulator{path}", *sent)
        assert answered.status < 400, answered.body


def _fate(call: RecordedCall, work: RecordedWork) -> dict[str, Any]:
    """Return the scenario by which work ends as it was seen to end: when, and which of its outputs fail."""
    finished = work.finished_by
    then: dict[str, Any] = {"stall": True}
    if (
        finished is not None
    ):  # of the time that the recording shows, work is queued for 1 ms
        took_ms = min(max(1, finished.at - call.at - 1), 30 * DAY_MS)
        then = {"duration": f"{took_ms / SECOND_MS:.3f}s"}
        outputs = work.last.outputs
        failed = {
            str(slot): one
            for slot, one in enumerate(outputs, start=1)
            if one.get("status") == "failed"
        }
        if work.last.shown.get("status") == "failed":
            then["fail"] = _failure_code([*outputs, work.last.shown][0])
        elif failed:
            then["outputs"] = {slot: _failure_code(one) for slot, one in failed.items()}
    return {
        "scenario": "recorded",
        "rules": [{"match": {"work": work.kind}, "then": then}],
    }


def _failure_code(holder: Mapping[str, Any]) -> str:
    code = (holder.get("error") or {}).get("code")
    return code if code in FAILURE_CODES else "processing_failed"


def _pairs(name: str, recorded: Any, own: Any) -> Iterator[tuple[str, str, str]]:
    """Iterate over the texts at the named places where ids, links, cursors and tokens stand, in both answers."""
    if isinstance(recorded, dict) and isinstance(own, dict):
        for member, value in recorded.items():
            if (
                member in own and member != "data"
            ):  # whose items may stand in another order
                yield from _pairs(member, value, own[member])
    elif isinstance(recorded, list) and isinstance(own, list):
        for value, counterpart in zip(recorded, own, strict=False):
            yield from _pairs(name, value, counterpart)
    elif (
        isinstance(recorded, str)
        and isinstance(own, str)
        and recorded
        and is_name(name)
    ):
        yield name, recorded, own


def is_name(member: str) -> bool:
    """Whether a member of an answer holds a name of something: an id, a link, a cursor or a token."""
    return (
        is_identifier(member)
        or member in ("next_cursor", "upload_token")
        or member.endswith(("url", "urls"))
    )


def is_identifier(member: str) -> bool:
    """Whether a member of an answer holds the id of a resource, or several."""
    return member == "id" or (
        member.endswith(("_id", "_ids")) and member != "request_id"
    )

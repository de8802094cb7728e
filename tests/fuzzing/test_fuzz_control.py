"""Bodies of the control plane: each is served, or refused and changes no sandbox."""

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest

from tests.fuzzing import json_texts
from tests.fuzzing.cases import Case, amounts, cases, differences, everything
from tests.fuzzing.json_texts import changed
from tests.support.emulator_client import Answer, Call, control_call
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.state_files import rewritten

RULE = {
    "match": {"operation": "*"},
    "then": {"problem": "internal_error"},
}
ACME = {
    "credits": 5,
    "credentials": [
        {
            "key": "acme",
            "name": "A",
            "profile": "full",
        },
    ],
}
SANDBOX = {
    "id": "other",
    "seed": 3,
    "clock": {"mode": "real", "rate": 60},
    "start": "2026-01-01T00:00:00.000Z",
    "scenario": {"scenario": "s", "rules": [RULE]},
    "rate_limits": False,
    "world": {
        "teams": {"Acme": ACME},
        "timings": {"queue": "1s", "pose": 2},
        "premade": True,
    },
}
GIVEN = [
    {"product": {"name": "Shirt", "photos": 2}},
    {"pose": {"name": "Walk"}},
    {"background": {"name": "Beach"}},
    {"photoshoot": {"products": ["Shirt"], "finished": False}},
]
CHANGE = {"at": "1s", "set": {"team": "Demo", "credits": 1}}
NEW_TEAM = {
    "name": "New",
    "credits": 3,
    "subscription": "active",
    "concurrency_limit": 2,
}
TEAM_CHANGES = {
    "credits": 3,
    "subscription": "inactive",
    "requests_per_minute": 9,
}
NEW_CREDENTIAL = {
    "profile": "read_only",
    "expires_at": "2027-01-01T00:00:00.000Z",
}
CREDENTIAL_CHANGES = {
    "state": "revoked",
    "expires_at": "2027-01-01T00:00:00.000Z",
}
TIMED_SCENARIO = {
    "scenario": "s",
    "rules": [],
    "timeline": [CHANGE],
}
BODIES: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/sandboxes", SANDBOX),
    ("POST", "/sandboxes", {"scenario": "some-outputs-fail", "clock": "auto"}),
    ("POST", "/reset", {}),
    ("PUT", "/clock", {"mode": "real", "rate": 60}),
    ("POST", "/clock/advance", {"seconds": 90}),
    ("POST", "/clock/advance", {"to": "2026-01-01T01:00:00.000Z"}),
    ("POST", "/clock/advance", {"next_event": True}),
    ("POST", "/clock/advance", {"until_idle": True}),
    ("POST", "/teams", NEW_TEAM),
    ("PATCH", "/teams/Demo", TEAM_CHANGES),
    ("POST", "/teams/Demo/credentials", NEW_CREDENTIAL),
    ("PATCH", "/credentials/CREDENTIAL", CREDENTIAL_CHANGES),
    ("PUT", "/scenario", TIMED_SCENARIO),
    ("PUT", "/scenario", {"use": "rate-limited"}),
    ("PUT", "/admission", {"state": "paused", "retry_after": 7}),
    ("POST", "/given", {"given": GIVEN}),
    ("PUT", "/state", {"format": "image-workflow-emulator state"}),
    ("DELETE", "/scenario", {}),
)
"""Methods, paths and bodies that are served."""
AS_A_CLIENT = ("/given",)
"""It asks `/v1`, and is refused as it refuses."""
QUERIES = (
    "",
    "",
    "",
    "",
    "?team=Demo",
    "?team=",
    "?team=Nobody",
    "?a=b",
    "?team=%ff",
    "?team=Demo&team=Demo",
    "?&&&",
)
MEDIA_TYPES = ("application/json",) * 6 + (
    "",
    "text/plain",
    "multipart/form-data; boundary=x",
    "application/yaml",
    "\u00ff",
)

LATEST = "9000"
"""The year from which a sandbox begins anew."""


@pytest.mark.parametrize("amount", amounts(150, 8_000))
def test_a_body_is_served_or_refused_and_a_refused_one_changes_nothing(
    control: EmulatorUnderTest,
    amount: int,
) -> None:
    prepare(control)
    statuses: set[int] = set()
    refused_paths: set[str] = set()
    for case in cases("control", amount):
        if case.begins_an_episode:
            restart(control)
        call = random_call(control, case)
        with case.told(call=call):
            status = status_of(control, call)
        statuses.add(status)
        if status >= 400:
            refused_paths.add(call.path)

    every_path = {path for _method, path, _body in BODIES}
    assert {200, 201, 400, 404, 422} <= statuses
    assert refused_paths == every_path


def status_of(control: EmulatorUnderTest, call: "ControlCall") -> int:
    """Send a call and return its status; it must change nothing if it is refused.

    The emulator is restarted where the next case could not be compared.
    """
    before = everything(control)
    answer = control.send(call.on_the_wire())
    assert answer.status < 500 or is_paused(call, answer)
    if answer.status >= 400 and not has_made_entries(call, answer):
        after = everything(control)
        assert differences(before, after) == []
    elif answer.status >= 400 or has_a_clock_of_its_own(control):
        restart(control)
    return answer.status


@dataclass(frozen=True, slots=True)
class ControlCall:
    method: str
    path: str
    """As `BODIES` has it."""
    target: str
    content: bytes
    media_type: str
    sandbox: str | None

    def on_the_wire(self) -> Call:
        return control_call(
            self.method,
            self.target,
            content=self.content,
            headers={"Content-Type": self.media_type},
            sandbox=self.sandbox,
        )


def random_call(control: EmulatorUnderTest, case: Case) -> ControlCall:
    chance = case.chance
    method, path, body = chance.choice(BODIES)
    content = written(body, case)
    query = chance.choice(QUERIES)
    target = path.replace("CREDENTIAL", credential_of(control))
    sandbox = None
    if chance.random() < 0.2 and not path.startswith("/sandboxes"):
        sandbox = "other"
    media_type = chance.choice(MEDIA_TYPES)
    return ControlCall(
        method=method,
        path=path,
        target=target + query,
        content=content,
        media_type=media_type,
        sandbox=sandbox,
    )


def credential_of(control: EmulatorUnderTest) -> str:
    """Return the id of the first credential of the Team."""
    credentials = control.team()["credentials"]
    return str(credentials[0]["id"])


def is_paused(call: ControlCall, answer: Answer) -> bool:
    """Whether a write of the service was refused during a pause."""
    return call.path in AS_A_CLIENT and answer.status == 503


def has_made_entries(call: ControlCall, answer: Answer) -> bool:
    """Whether one entry was refused as a client is: those before it are made."""
    if call.path not in AS_A_CLIENT:
        return False
    is_of_the_body = re.match(r":\d+:\d+: |team: ", answer.json["detail"])
    return not is_of_the_body


def prepare(control: EmulatorUnderTest) -> None:
    """Let there be work in progress, and a second sandbox."""
    control.photograph()
    control.told("POST", "/sandboxes", {"id": "other"})


def has_a_clock_of_its_own(control: EmulatorUnderTest) -> bool:
    """Whether a clock runs, so that no two runs are the same, or is at the end of time.

    That end has tests below.
    """
    sandboxes = control.told("GET", "/sandboxes")["data"]
    clocks = [sandbox["clock"] for sandbox in sandboxes]
    is_running = any(clock["mode"] == "real" for clock in clocks)
    is_at_the_end = any(clock["now"] > LATEST for clock in clocks)
    return is_running or is_at_the_end


def restart(control: EmulatorUnderTest) -> None:
    """End what was made, and begin what is left anew."""
    sandboxes = control.ask("GET", "/sandboxes").json["data"]
    for sandbox in sandboxes:
        if sandbox["id"] != "default":
            deleted = control.ask("DELETE", f"/sandboxes/{sandbox['id']}")
            assert deleted.status == 204
    control.ask("DELETE", "/scenario")
    control.ask("PUT", "/clock", {"mode": "manual"})
    control.told("POST", "/reset")
    prepare(control)


def written(body: Any, case: Case) -> bytes:
    """Return a body, mostly changed, mostly as JSON."""
    chance = case.chance
    if chance.random() < 0.1:
        return json_texts.body(chance, limit=32)
    times = chance.choice((0, 1, 1, 1, 2, 3))
    changed_body = changed(body, chance, times=times)
    is_ascii = chance.random() < 0.5
    text = json.dumps(changed_body, ensure_ascii=is_ascii)
    return text.encode("utf-8", "surrogatepass")


# The end of time ----------------------------------------------------------------------

LAST_INSTANT = "9999-12-31T23:59:59.999Z"


@pytest.fixture
def at_the_end(control: EmulatorUnderTest) -> EmulatorUnderTest:
    """An emulator in the last second, with a credential that is not expired."""
    path = f"/credentials/{credential_of(control)}"
    control.told("PATCH", path, {"expires_at": LAST_INSTANT})
    control.told("POST", "/clock/advance", {"to": "9999-12-31T23:59:59.000Z"})
    return control


def test_an_upload_session_can_be_opened_at_the_end_of_time(
    at_the_end: EmulatorUnderTest,
) -> None:
    body = {"content_type": "image/png", "size_bytes": 10}

    opened = at_the_end.post("/uploads", body)

    assert opened.status == 201


def test_a_team_can_be_made_at_the_end_of_time(at_the_end: EmulatorUnderTest) -> None:
    at_the_end.told("POST", "/teams", {"name": "Late"})

    *_, newest = at_the_end.told("GET", "/teams")["data"]
    assert newest["name"] == "Late"


def test_an_expiry_after_the_end_of_time_is_shown_as_the_last_instant(
    control: EmulatorUnderTest,
) -> None:
    def expire_late(parts: dict[str, Any]) -> None:
        parts["credentials"][0]["credential"]["expires_at"] = 2**52

    saved = control.ask("GET", "/state").body

    control.told("PUT", "/state", content=rewritten(saved, expire_late))

    to_its_client = control.get("/team").json["credential"]
    first, *_ = control.team()["credentials"]
    assert to_its_client["expires_at"] == LAST_INSTANT
    assert first["expires_at"] == LAST_INSTANT

"""Bodies of the control plane: each is served or refused, and a refused one changes nothing, in no sandbox."""

import json
import re
from typing import Any

import pytest

from tests.fuzzing import json_texts
from tests.fuzzing.cases import Case, amounts, cases, differences, everything
from tests.fuzzing.json_texts import changed
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.state_files import rewritten

RULE = {"match": {"operation": "*"}, "then": {"problem": "internal_error"}}
ACME = {"credits": 5, "credentials": [{"key": "acme", "name": "A", "profile": "full"}]}
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
BODIES: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/sandboxes", SANDBOX),
    ("POST", "/sandboxes", {"scenario": "some-outputs-fail", "clock": "auto"}),
    ("POST", "/reset", {}),
    ("PUT", "/clock", {"mode": "real", "rate": 60}),
    ("POST", "/clock/advance", {"seconds": 90}),
    ("POST", "/clock/advance", {"to": "2026-01-01T01:00:00.000Z"}),
    ("POST", "/clock/advance", {"next_event": True}),
    ("POST", "/clock/advance", {"until_idle": True}),
    (
        "POST",
        "/teams",
        {"name": "New", "credits": 3, "subscription": "active", "concurrency_limit": 2},
    ),
    (
        "PATCH",
        "/teams/Demo",
        {"credits": 3, "subscription": "inactive", "requests_per_minute": 9},
    ),
    (
        "POST",
        "/teams/Demo/credentials",
        {"profile": "read_only", "expires_at": "2027-01-01T00:00:00.000Z"},
    ),
    (
        "PATCH",
        "/credentials/CREDENTIAL",
        {"state": "revoked", "expires_at": "2027-01-01T00:00:00.000Z"},
    ),
    ("PUT", "/scenario", {"scenario": "s", "rules": [], "timeline": [CHANGE]}),
    ("PUT", "/scenario", {"use": "rate-limited"}),
    ("PUT", "/admission", {"state": "paused", "retry_after": 7}),
    ("POST", "/given", {"given": GIVEN}),
    ("PUT", "/state", {"format": "image-workflow-emulator state"}),
    ("DELETE", "/scenario", {}),
)
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
    control: EmulatorUnderTest, amount: int
) -> None:
    prepare(control)
    seen = set()
    for case in cases("control", amount):
        if case.begins_an_episode:
            restart(control)
        method, path, body = case.chance.choice(BODIES)
        content = written(body, case)
        target = path.replace(
            "CREDENTIAL", control.team()["credentials"][0]["id"]
        ) + case.chance.choice(QUERIES)
        sandbox = (
            "other"
            if case.chance.random() < 0.2 and not path.startswith("/sandboxes")
            else None
        )
        headers = {"Content-Type": case.chance.choice(MEDIA_TYPES)}
        with case.told(target=target, content=content, sandbox=sandbox):
            before = everything(control)
            answer = control.ask(
                method, target, content=content, headers=headers, sandbox=sandbox
            )
            assert answer.status < 500 or (
                path in AS_A_CLIENT and answer.status == 503
            )  # during a pause
            if (
                answer.status >= 400
                and path == "/given"
                and not re.match(r":\d+:\d+: |team: ", answer.json["detail"])
            ):
                restart(
                    control
                )  # an entry was refused as a client's request is: those before it are made
            elif answer.status >= 400:
                assert differences(before, everything(control)) == []
            elif has_a_clock_of_its_own(control):
                restart(control)
            seen.add((method, path, answer.status))
    assert {200, 201, 400, 404, 422} <= {status for _, _, status in seen}
    assert {path for _, path, _ in BODIES} == {
        path for _, path, status in seen if status >= 400
    }


def prepare(control: EmulatorUnderTest) -> None:
    """Let there be work in progress, and a second sandbox."""
    control.photograph()
    control.told("POST", "/sandboxes", {"id": "other"})


def has_a_clock_of_its_own(control: EmulatorUnderTest) -> bool:
    """Whether a sandbox has come to where no two runs are the same, or to the end of time, which has tests below."""
    clocks = [sandbox["clock"] for sandbox in control.told("GET", "/sandboxes")["data"]]
    return any(clock["mode"] == "real" or clock["now"] > LATEST for clock in clocks)


def restart(control: EmulatorUnderTest) -> None:
    """End what was made, and begin what is left anew."""
    for sandbox in control.ask("GET", "/sandboxes").json["data"]:
        if sandbox["id"] != "default":
            assert control.ask("DELETE", f"/sandboxes/{sandbox['id']}").status == 204
    control.ask("DELETE", "/scenario")
    control.ask("PUT", "/clock", {"mode": "manual"})
    control.told("POST", "/reset")
    prepare(control)


def written(body: Any, case: Case) -> bytes:
    """Return a body, mostly changed, mostly as JSON."""
    chance = case.chance
    if chance.random() < 0.1:
        return json_texts.body(chance, limit=32)
    data = changed(body, chance, times=chance.choice((0, 1, 1, 1, 2, 3)))
    return json.dumps(data, ensure_ascii=chance.random() < 0.5).encode(
        "utf-8", "surrogatepass"
    )


def test_a_team_and_an_upload_session_can_be_opened_at_the_end_of_time(
    control: EmulatorUnderTest,
) -> None:
    credential = control.team()["credentials"][0]["id"]
    control.told(
        "PATCH",
        f"/credentials/{credential}",
        {"expires_at": "9999-12-31T23:59:59.999Z"},
    )
    control.told("POST", "/clock/advance", {"to": "9999-12-31T23:59:59.000Z"})
    assert (
        control.post("/uploads", {"content_type": "image/png", "size_bytes": 10}).status
        == 201
    )
    assert (
        control.told("POST", "/teams", {"name": "Late"})["name"]
        == control.told("GET", "/teams")["data"][-1]["name"]
    )


def test_an_expiry_after_the_end_of_time_is_shown_as_the_last_instant(
    control: EmulatorUnderTest,
) -> None:
    saved, late = control.ask("GET", "/state").body, {"expires_at": 2**52}
    changed = rewritten(
        saved, lambda parts: parts["credentials"][0]["credential"].update(late)
    )
    control.told("PUT", "/state", content=changed)
    assert (
        "9999-12-31T23:59:59.999Z"
        == control.get("/team").json["credential"]["expires_at"]
    )
    assert "9999-12-31T23:59:59.999Z" == control.team()["credentials"][0]["expires_at"]

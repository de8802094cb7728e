"""Scenarios as they run: swapped, begun anew, with the changes of timelines, and what becomes of accepted work."""

import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from image_workflow_emulator.domain import orders
from tests.cli.command import run_command
from tests.support.emulator_client import (
    FULL,
    INGREDIENT_PATHS,
    LAPSED,
    OTHER,
    READ_ONLY,
    REVOKED,
    SOURCES,
    TERMINAL,
    UPLOAD,
    Call,
    Client,
    Json,
    advance_call,
    control_call,
    ingredient_body,
)
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator
from tests.support.every_operation import WORKFLOWS, generation_call, upscale_call
from tests.support.served import serving
from tests.support.served_client import ServedClient

WRITE = Call("POST", "/uploads", UPLOAD)
READ = Call("GET", "/team")
Outcome = tuple[int, str]
"""Status and code, or kind, of an answer."""


def test_what_is_held_stays_held_when_the_scenario_is_swapped(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    emulator.rule({"operation": "createUpscaleGeneration"}, {"hold": "10s"})
    call = upscale_call(asset_id, "k")
    swap = control_call("PUT", "/scenario", {"scenario": "calm"})
    release = advance_call(10)

    first, _, second, _ = emulator.together(
        call,
        swap,
        call,
        release,
    )

    assert first.status == 202
    assert second.code == "idempotency_in_progress"


EVENTFUL = """
scenario: eventful
rules:
  - match: {operation: getTeam}
    when: {probability: 0.5}
    then: {problem: internal_error}
  - match: {operation: listPoses}
    when: {nth: every 3}
    then: {problem: internal_error}
timeline:
  - at: 9s
    set: {admission: paused}
"""


def _statuses_of_a_run(emulator: EmulatorUnderTest) -> list[int]:
    """Let some time pass, and send requests that rules and the timeline are about."""
    emulator.advance(10)
    calls = [Call("GET", path) for path in ("/team", "/poses") * 12]
    calls.append(WRITE)
    answers = [emulator.send(call) for call in calls]
    return [answer.status for answer in answers]


@pytest.mark.emulator(seed=3)
def test_a_reset_begins_the_scenario_anew_with_fresh_counters_and_the_same_chance(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(EVENTFUL)
    untouched = emulator.told("GET", "/scenario")

    first = _statuses_of_a_run(emulator)
    played = emulator.told("GET", "/scenario")
    emulator.told("POST", "/reset")
    reset = emulator.told("GET", "/scenario")
    second = _statuses_of_a_run(emulator)

    assert set(first) == {200, 500, 503}
    assert played != untouched
    assert reset == untouched
    assert second == first


def test_a_changed_file_is_noticed_and_read_again_when_it_is_used(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.yaml"
    advice = f"{file} changed; use it: image-workflow-emulator scenario use {file}"
    file.write_text("scenario: before\n")
    with serving("--scenario", str(file), stderr=subprocess.PIPE) as server:
        client = ServedClient(server.base_url)
        complaints = server.process.stderr
        assert complaints is not None

        file.write_text("scenario: after\n")
        assert advice in complaints.readline()
        assert running_scenario(client) == "before"

        use = run_command(
            "scenario",
            "use",
            str(file),
            EMULATOR_URL=server.url,
        )
        client.reset()
        assert use.status == 0
        assert running_scenario(client) == "after"


def running_scenario(client: Client) -> str:
    status = client.told("GET", "/scenario")
    return str(status["scenario"])


def _timeline(*changes: tuple[str, Json]) -> Json:
    return {
        "scenario": "timeline",
        "timeline": [{"at": at, "set": change} for at, change in changes],
    }


def _around(
    emulator: EmulatorUnderTest,
    call: Call,
    at_seconds: float,
) -> tuple[Outcome, Outcome]:
    """Send a request a millisecond before an instant, and at the instant."""
    emulator.advance(at_seconds - 0.001)
    before = emulator.send(call)
    emulator.advance(0.001)
    after = emulator.send(call)
    return before.outcome, after.outcome


class TimedChange(NamedTuple):
    """A change of a timeline, and a request before and after it."""

    change: Json
    call: Call
    before: Outcome
    after: Outcome


ADMITTED = (201, "upload")
READABLE = (200, "team")
WITHOUT_SUBSCRIPTION = (403, "subscription_required")
CHANGES = [
    TimedChange(
        change={"admission": "paused"},
        call=WRITE,
        before=ADMITTED,
        after=(503, "service_unavailable"),
    ),
    TimedChange(
        change={"admission": "paused"},
        call=READ,
        before=READABLE,
        after=READABLE,
    ),
    TimedChange(
        change={"admission": "open"},
        call=WRITE,
        before=ADMITTED,
        after=ADMITTED,
    ),
    TimedChange(
        change={"team": "Demo", "subscription": "inactive"},
        call=WRITE,
        before=ADMITTED,
        after=WITHOUT_SUBSCRIPTION,
    ),
    TimedChange(
        change={"team": "Other", "subscription": "inactive"},
        call=WRITE,
        before=ADMITTED,
        after=ADMITTED,
    ),
    TimedChange(
        change={"team": "Lapsed", "subscription": "active"},
        call=Call("POST", "/uploads", UPLOAD, key=LAPSED),
        before=WITHOUT_SUBSCRIPTION,
        after=ADMITTED,
    ),
    TimedChange(
        change={"credential": FULL, "state": "revoked"},
        call=READ,
        before=READABLE,
        after=(401, "credential_revoked"),
    ),
    TimedChange(
        change={"credential": FULL, "state": "revoked"},
        call=Call("GET", "/team", key=READ_ONLY),
        before=READABLE,
        after=READABLE,
    ),
    TimedChange(
        change={"credential": REVOKED, "state": "active"},
        call=Call("GET", "/team", key=REVOKED),
        before=(401, "credential_revoked"),
        after=READABLE,
    ),
    TimedChange(
        change={"credential": FULL, "expires_at": "2026-01-01T00:00:00.000Z"},
        call=READ,
        before=READABLE,
        after=(401, "credential_expired"),
    ),
    TimedChange(
        change={"credential": FULL, "profile": "read_only"},
        call=WRITE,
        before=ADMITTED,
        after=(403, "permission_denied"),
    ),
    TimedChange(
        change={"credential": READ_ONLY, "profile": "full"},
        call=Call("POST", "/uploads", UPLOAD, key=READ_ONLY),
        before=(403, "permission_denied"),
        after=ADMITTED,
    ),
    TimedChange(
        change={"team": "Demo", "requests_per_minute": 1},
        call=READ,
        before=READABLE,
        after=(429, "rate_limited"),
    ),
]


def _id_of(row: TimedChange) -> str:
    return f"{row.change} {row.call.method} {row.call.key}"


@pytest.mark.parametrize("row", CHANGES, ids=_id_of)
def test_a_change_takes_effect_at_its_instant(
    emulator: EmulatorUnderTest,
    row: TimedChange,
) -> None:
    emulator.advance(100)
    emulator.use(_timeline(("30s", row.change)))

    before, after = _around(emulator, row.call, 30)

    assert before == row.before
    assert after == row.after


def test_a_long_timeline_of_pauses_costs_no_more_for_each_of_them(
    emulator: EmulatorUnderTest,
) -> None:
    changes = []
    for second in range(0, 2200, 2):
        changes.append((f"{second}s", {"admission": "paused"}))
        changes.append((f"{second + 1}s", {"admission": "open"}))
    emulator.use(_timeline(*changes))

    began_at = time.process_time()
    emulator.advance(2199)
    seconds = time.process_time() - began_at

    timeline = emulator.told("GET", "/scenario")["timeline"]
    last_change = timeline[-1]
    assert seconds < 1
    assert last_change["done_at"] == "2026-01-01T00:36:39.000Z"


WORLD = """
scenario: w
world:
  teams:
    Demo:
      credits: 3
      credentials: [{key: iwe_demo_read, name: Renamed}, {key: iwe_demo_second}]
    Other: {subscription: inactive}
    Fresh: {credits: 9, credentials: [{key: iwe_fresh}]}
  timings: {queue: 2s, first_output: 8s}
"""


def test_a_world_changes_teams_at_once(emulator: EmulatorUnderTest) -> None:
    emulator.use(WORLD)

    assert emulator.credits() == 3
    assert emulator.team("Other")["subscription"] == "inactive"


def test_a_world_changes_of_a_credential_what_it_names_and_keeps_the_rest(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(WORLD)

    credential = emulator.get("/team", READ_ONLY).json["credential"]

    assert credential["name"] == "Renamed"
    assert credential["profile"] == "read_only"


def test_a_world_adds_credentials_and_teams(emulator: EmulatorUnderTest) -> None:
    emulator.use(WORLD)

    demo = emulator.get("/team").json
    second = emulator.get("/team", "iwe_demo_second").json
    fresh = emulator.get("/team", "iwe_fresh").json

    assert second["id"] == demo["id"]
    assert fresh["name"] == "Fresh"
    assert fresh["credits"] == 9


def test_a_world_changes_how_long_new_work_takes(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    emulator.use(WORLD)
    work = emulator.send(upscale_call(asset_id, "k"))
    path = f"/generations/{work.id}"

    emulator.advance(9.999)
    before = emulator.get(path).json
    emulator.advance(0.001)
    after = emulator.get(path).json

    assert before["status"] == "processing"
    assert after["status"] == "completed"


def test_a_change_is_made_right_after_the_answer_to_a_request_and_once(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: after the second
        timeline:
          - after:
              match: {operation: getTeam, team: Demo}
              nth: 2
            set: {team: Demo, credits: 7}
    """)

    until_the_change = [emulator.credits(key) for key in (FULL, OTHER, FULL, FULL)]
    emulator.set_team(credits_available=50)
    later = [emulator.credits() for _ in range(3)]

    assert until_the_change == [100, 100, 100, 7]
    assert later == [50, 50, 50]


ONE_AFTER_ANOTHER = """
scenario: one after another
timeline:
  - after: {match: {operation: listAssets}}
    set: {team: Demo, credits: 1}
  - after: {match: {operation: listProducts}}
    set: {team: Demo, credits: 2}
  - after: {match: {operation: listPoses}}
    set: {team: Demo, credits: 3}
"""


def test_changes_after_requests_do_not_wait_for_one_another(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(ONE_AFTER_ANOTHER)

    credits_seen = []
    for path in ("/products", "/assets", "/poses"):
        emulator.get(path)
        credits_seen.append(emulator.credits())

    assert credits_seen == [2, 1, 3]


def test_a_scenario_says_when_a_change_after_a_request_was_made(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(ONE_AFTER_ANOTHER)

    emulator.get("/products")

    running = emulator.told("GET", "/scenario")
    times = [change["done_at"] for change in running["timeline"]]
    assert times == [None, emulator.clock_now(), None]


def test_a_change_that_was_made_before_a_state_was_saved_is_not_made_again(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(ONE_AFTER_ANOTHER)
    emulator.get("/products")
    saved = emulator.ask("GET", "/state").body

    emulator.ask("PUT", "/state", content=saved)
    emulator.set_team(credits_available=50)
    emulator.get("/products")

    assert emulator.credits() == 50


def test_a_change_after_bytes_closes_the_window_of_a_client(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: after bytes
        timeline:
          - after:
              match: {bytes: upload}
              nth: 1
            set: {credential: iwe_demo_full, state: revoked}
    """)
    session, token = emulator.ready_upload()

    completion = emulator.complete(session, token)

    assert completion.code == "credential_revoked"


def test_a_link_to_no_sandbox_is_not_found_while_a_change_waits_for_bytes(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: after bytes
        timeline:
          - after:
              match: {bytes: "*"}
              nth: 1
            set: {team: Demo, credits: 7}
    """)

    download = emulator.fetch("/files/nowhere/picture.png", "POST")
    upload = emulator.fetch("/direct-uploads/nowhere/session/signature", "POST")

    assert download.status == 404
    assert upload.status == 404
    assert emulator.credits() != 7


PHOTOGRAPHY: Json = {"work": "product_photography"}


def _outputs_of(emulator: EmulatorUnderTest, work: Json) -> list[Json]:
    generation = emulator.get(f"/generations/{work['id']}").json
    return list(generation["outputs"])


def _finished_after(emulator: EmulatorUnderTest, work: Json) -> list[float]:
    """Return when the outputs of a Generation end, in seconds after its admission."""
    began_at = emulator.now()
    instants: list[float] = []
    while len(instants) < len(work["outputs"]):
        emulator.told("POST", "/clock/advance", {"next_event": True})
        seconds = (emulator.now() - began_at) / 1000
        outputs = _outputs_of(emulator, work)
        ended = [output for output in outputs if output["status"] in TERMINAL]
        newly_ended = len(ended) - len(instants)
        instants += [seconds] * newly_ended
    return instants


@pytest.mark.parametrize(
    ("instants", "duration"),
    [
        ([21.0], "20s"),
        ([1.0], "0s"),
        ([1.25], "250ms"),
        ([61.0], "1m"),
    ],
)
def test_a_duration_begins_with_the_work(
    emulator: EmulatorUnderTest,
    asset_id: str,
    instants: list[float],
    duration: str,
) -> None:
    emulator.rule({"work": "upscale"}, {"duration": duration})

    work = emulator.send(upscale_call(asset_id, "k")).json

    assert _finished_after(emulator, work) == instants


def test_slots_share_a_duration_in_proportion_to_their_usual_times(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(PHOTOGRAPHY, {"duration": "22s"})

    work = emulator.photograph(image_count=4).json

    # 5, 7, 9 and 11 s, twice as long, after a second in the queue.
    assert _finished_after(emulator, work) == [11, 15, 19, 23]


def test_a_duration_goes_with_failures_of_outputs(emulator: EmulatorUnderTest) -> None:
    then = {
        "duration": "22s",
        "outputs": {"2": "timed_out"},
    }
    emulator.rule(PHOTOGRAPHY, then)

    work = emulator.photograph(image_count=2).json
    instants = _finished_after(emulator, work)
    first, second = _outputs_of(emulator, work)

    assert instants[-1] == 23
    assert first["error"] is None
    assert second["error"]["code"] == "timed_out"


SLOTS_AND_REST = """
scenario: slots and rest
rules:
  - name: slots
    match: {work: product_photography}
    then: {outputs: {2: timed_out, 4: timed_out}}
  - name: rest
    match: {work: product_photography}
    when: {nth: 2}
    then: {fail: content_rejected}
"""


def _failures_of(emulator: EmulatorUnderTest, image_count: int) -> list[str | None]:
    """Order pictures, and return the codes with which they failed; None: completed."""
    work = emulator.photograph(image_count=image_count).json
    ended = emulator.wait_for(work)
    codes: list[str | None] = []
    for output in ended["outputs"]:
        error = output["error"] or {}
        codes.append(error.get("code"))
    return codes


def test_a_rule_fails_the_outputs_that_there_are(emulator: EmulatorUnderTest) -> None:
    emulator.use(SLOTS_AND_REST)

    failures = _failures_of(emulator, image_count=2)

    slots = emulator.rule_count("slots")
    rest = emulator.rule_count("rest")
    assert failures == [None, "timed_out"]
    assert slots.matched == 1
    assert slots.fired == 1
    assert rest.matched == 1
    assert rest.fired == 0


def test_work_without_the_outputs_of_a_rule_is_left_to_the_next_rule(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(SLOTS_AND_REST)

    first_failures = _failures_of(emulator, image_count=1)
    second_failures = _failures_of(emulator, image_count=1)

    slots = emulator.rule_count("slots")
    rest = emulator.rule_count("rest")
    assert first_failures == [None]
    assert second_failures == ["content_rejected"]
    assert slots.matched == 2
    assert slots.fired == 0
    assert rest.matched == 2
    assert rest.fired == 1


def test_an_explanation_names_the_rule_that_decided_the_work(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(SLOTS_AND_REST)
    _failures_of(emulator, image_count=2)
    path = "/requests?operation=createProductPhotographyGeneration"
    (entry,) = emulator.told("GET", path)["data"]

    described = emulator.told("GET", f"/requests/{entry['request_id']}")

    (rule,) = described["explanation"]["rules"]
    assert rule["name"] == "slots"


LATER = """
scenario: later
rules:
  - match: {work: "*"}
    then: {stall: true}
world:
  timings: {queue: 1h, first_output: 1h, pose: 1h}
"""


def _admit_all_work(emulator: EmulatorUnderTest) -> list[str]:
    """Order work of every kind, some of which will fail; return the paths."""
    failing = {"work": ["pose.create", "upscale"]}
    emulator.rule(failing, {"fail": "timed_out", "duration": "20s"})
    assets = emulator.assets(5)
    admitted: list[Json] = []
    for workflow in WORKFLOWS:
        call = generation_call(workflow, assets[0], workflow)
        admitted.append(emulator.send(call).json)
    for kind, path in INGREDIENT_PATHS.items():
        sources = assets[: SOURCES[kind]]
        body = ingredient_body(kind, sources)
        admitted.append(emulator.post(path, body).json)
    return [f"/{work['object']}s/{work['id']}" for work in admitted]


def _course_of(emulator: EmulatorUnderTest, paths: list[str]) -> list[Any]:
    """Return what a client sees of work, second by second, and its Credits at the end."""
    course: list[Any] = []
    for _ in range(30):
        emulator.advance(1)
        for path in paths:
            answer = emulator.get(path)
            course.append((answer.json, answer.retry_after))
    course.append(emulator.credits())
    return course


def test_nothing_later_changes_accepted_work(
    make_emulator: MakeEmulator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    undisturbed = make_emulator(rate_limits=False)
    expected = _course_of(undisturbed, _admit_all_work(undisturbed))
    emulator = make_emulator(rate_limits=False)
    paths = _admit_all_work(emulator)

    dearer = {"1k": 5, "2k": 5, "4k": 5}
    monkeypatch.setattr(orders, "_PER_OUTPUT", dearer)
    monkeypatch.setitem(orders.AUTHORING_PRICES, "background", 5)
    emulator.use(LATER)

    assert _course_of(emulator, paths) == expected

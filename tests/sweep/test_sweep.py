"""`sweep`: a command run again with each fault at each of its calls.

Each test runs the real command.
"""

import json
import re
import signal
import sys
from pathlib import Path

import pytest

from image_workflow_emulator.sweep.faults import RECOVERABLE
from tests.cli.command import run_here
from tests.support.served import EMULATOR, PATIENCE_SECONDS, Outcome, started
from tests.sweep.commands import CARELESS, HASTY, SOUND, client, report_of, sweep
from tests.sweep.pipes import heard, pipe

STUBBORN = """
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
    send("GET", "/team")
except OSError:
    mark = open("{mark}", "w")
    print("refused", file=mark, flush=True)
    time.sleep(600)
"""
"""It never ends once it was refused, not even when it is asked to. It then tells so in
a file, which it holds open."""
PHOTOSHOOT = """
import os
import sys
import time
from tests.examiner.example_client import NEW_KEYS, PHOTO, load

time.sleep = lambda seconds: None
if sys.argv[1] == "new-keys":
    module = load(NEW_KEYS)
else:
    module = load()
url = os.environ["IMAGE_WORKFLOW_BASE_URL"]
client = module.ImageWorkflow(url, os.environ["IMAGE_WORKFLOW_API_KEY"])
image = client.upload(PHOTO, "image/png")
product = client.create_product("Shirt", [image["id"]])
client.photoshoot([product["id"]])
"""
"""The example client, which may be made to send every attempt with a key of its own."""
LOST_OR_LIMITED = ["--only", "createUpload#1:[lr]*", "--faults", "network,problems"]


# Recovery ---------------------------------------------------------------------------


def test_a_client_that_asks_once_fails(tmp_path: Path) -> None:
    options = [*LOST_OR_LIMITED, "--strict", "off"]

    report = report_of(tmp_path, options, client(HASTY))

    outcomes = set(report.outcomes.values())
    assert 0 == report.status
    assert {"failed"} == outcomes


def test_a_client_that_persists_survives(tmp_path: Path) -> None:
    report = report_of(tmp_path, LOST_OR_LIMITED, client(SOUND))

    assert 0 == report.status
    assert {
        "createUpload#1:rate_limited": "survived",
        "createUpload#1:lost-before-commit": "survived",
        "createUpload#1:lost-after-commit": "survived",
    } == report.outcomes


def test_a_client_that_does_not_notice_its_failure_never_survives(
    tmp_path: Path,
) -> None:
    options = ["--only", "createUpload#1:[lrp]*"]

    report = report_of(tmp_path, options, client(CARELESS))

    assert 1 == report.status
    assert {
        "createUpload#1:lost-before-commit": "damaged",
        "createUpload#1:rate_limited": "damaged",
        "createUpload#1:lost-after-commit": "failed",
        "createUpload#1:permission_denied": "failed",
    } == report.outcomes
    assert "made-less" in report.output


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        ("createProduct#1", "made-twice"),
        pytest.param(
            "createProductPhotographyGeneration#1",
            "double-spend",
            marks=pytest.mark.verify,
        ),
    ],
)
def test_a_client_that_makes_or_orders_twice_does_damage_though_it_succeeds(
    tmp_path: Path,
    call: str,
    rule: str,
) -> None:
    options = ["--only", f"{call}:lost-after-commit"]
    command = [sys.executable, "-c", PHOTOSHOOT, "new-keys"]

    report = report_of(tmp_path, options, command)

    (row,) = report.content["cells"]
    findings = row["findings"]
    (error,) = [finding for finding in findings if finding["severity"] == "error"]
    assert 1 == report.status
    assert 0 == row["status"]
    assert "damaged" == row["outcome"]
    assert rule == error["rule"]


def test_a_client_that_keeps_its_key_orders_once(tmp_path: Path) -> None:
    cell = "createProductPhotographyGeneration#1:lost-after-commit"
    command = [sys.executable, "-c", PHOTOSHOOT, "one-key"]

    report = report_of(tmp_path, ["--only", cell], command)

    assert {cell: "survived"} == report.outcomes


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("garbled", "survived"),
        ("cut", "failed"),
        pytest.param("stall", "hung", marks=pytest.mark.verify),
    ],
)
def test_a_client_without_a_time_limit_survives_garbage_and_hangs_where_no_answer_comes(
    tmp_path: Path,
    fault: str,
    outcome: str,
) -> None:
    cell = f"getTeam#1:{fault}"
    options = ["--only", cell]
    if fault == "stall":
        options += ["--timeout", "5"]

    report = report_of(tmp_path, options, client(SOUND))

    assert {cell: outcome} == report.outcomes


# What is printed ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def strict() -> Outcome:
    """A strict sweep of a client that fails in each of its cells."""
    options = ["--seed", "7", "--only", "getTeam#1:[air]*_*", "--strict"]
    return sweep(options, client(HASTY))


def test_cells_that_failed_are_printed_the_recoverable_first(strict: Outcome) -> None:
    faults = re.findall(r"^failed +getTeam#1:(\S+)", strict.output, re.MULTILINE)

    recoverable = [fault for fault in faults if fault in RECOVERABLE]
    assert "rate_limited" in recoverable
    assert recoverable == faults[: len(recoverable)]
    assert recoverable != faults


def test_a_cell_that_failed_has_the_command_that_repeats_it(strict: Outcome) -> None:
    again = "image-workflow-emulator sweep --seed=7 --only 'getTeam#1:rate_limited' -- "

    assert f"{again}{sys.executable} -c" in strict.output


def test_a_sweep_says_how_many_cells_there_are_and_how_they_ended(
    strict: Outcome,
) -> None:
    sentence = " ".join(strict.output.split())

    assert "3 cells to try" in strict.complaint
    assert (
        "3 cells tried in 6 runs: 0 survived, 3 failed, 0 hung, 0 damaged" in sentence
    )


# The gate -----------------------------------------------------------------------------


def test_strict_also_refuses_cells_that_failed(strict: Outcome) -> None:
    assert 1 == strict.status


def test_a_failure_that_is_expected_is_none_in_junit_either(tmp_path: Path) -> None:
    expected = tmp_path / "expected.yaml"
    expected.write_text("- {cell: 'getTeam#1:*', outcome: failed, reason: once}\n")
    junit = tmp_path / "sweep.xml"
    options = ["--only", "getTeam#1:cut", "--strict"]
    options += ["--expected", str(expected), "--report", str(junit)]

    outcome = sweep(options, client(HASTY))

    assert 0 == outcome.status
    assert 'failures="0"' in junit.read_text()


# What was not tried -------------------------------------------------------------------

ELSEWHERE = """
control = os.environ["EMULATOR_URL"] + "/_emulator/sandboxes"
own = {"scenario": "own", "rules": []}
body = json.dumps({"scenario": own})
request = urllib.request.Request(control, body.encode(), method="POST")
request.add_header("Content-Type", "application/json")
with urllib.request.urlopen(request) as answer:
    sandbox = json.loads(answer.read())
KEY = sandbox["env"]["IMAGE_WORKFLOW_API_KEY"]
send("GET", "/team")
"""
"""It calls a sandbox with a scenario of its own."""


def test_faults_in_sandboxes_with_scenarios_of_their_own_did_not_happen(
    tmp_path: Path,
) -> None:
    options = ["--only", "getTeam#1:[cr]*"]

    report = report_of(tmp_path, options, client(ELSEWHERE))

    sentence = "the command's requests went to sandboxes with scenarios of their own"
    printed = " ".join(report.output.split())
    outcomes = set(report.outcomes.values())
    reasons = {row["why"] for row in report.content["not_run"]}
    assert 2 == report.status
    assert {"not-struck"} == outcomes
    assert 0 == report.content["counts"]["survived"]
    assert sentence in printed
    assert {sentence} == reasons


def test_a_sweep_that_ends_with_its_budget_leaves_no_files(tmp_path: Path) -> None:
    options = ["--faults", "all", "--budget", "1s"]

    outcome = sweep(options, client(SOUND), TMPDIR=str(tmp_path))

    printed = " ".join(outcome.output.split())
    files_left = list(tmp_path.iterdir())
    assert 3 == outcome.status
    assert "not tried, since the 1 s of --budget had passed" in printed
    assert "Traceback" not in outcome.complaint
    assert [] == files_left


@pytest.mark.parametrize(
    ("options", "script", "complaint"),
    [
        ([], "raise SystemExit(3)", "exited with status 3"),
        ([], "pass", "called no operation"),
        (["--only", "getTaem#1:cut"], SOUND, 'did you mean "getTeam#1:cut"?'),
        (["--scenario", "no-such"], SOUND, "no-such"),
    ],
)
def test_what_the_clean_run_shows_to_be_a_mistake_is_told(
    options: list[str],
    script: str,
    complaint: str,
) -> None:
    outcome = sweep(options, client(script))

    assert 2 == outcome.status
    assert complaint in outcome.complaint


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            ["--faults", "luck"],
            "recoverable, problems, network, outputs, client, all",
        ),
        (["--budget", "soon"], "--budget"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_an_option_that_cannot_be_used_is_told_before_the_clean_run(
    options: list[str],
    complaint: str,
) -> None:
    outcome = run_here("sweep", *options, "--", *client(SOUND))

    assert 2 == outcome.status
    assert complaint in outcome.complaint


# Without an end -----------------------------------------------------------------------

REFUSED = "getTeam#1:authentication_required"
REFUSED_SOON = ["--only", REFUSED, "--timeout", "5"]


@pytest.mark.verify
def test_a_command_without_an_end_is_hung_and_nothing_of_it_is_left(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "refused"
    command = client(STUBBORN.format(mark=mark))
    with pipe(mark) as reader:
        report = report_of(tmp_path, REFUSED_SOON, command)

        assert {b"refused"} == set(heard(reader).split())
        assert b"" == heard(reader)
    assert 1 == report.status
    assert {REFUSED: "hung"} == report.outcomes


@pytest.mark.verify
def test_a_run_that_was_only_slow_is_tried_again_and_not_hung(tmp_path: Path) -> None:
    mark = tmp_path / "refused"
    soon_the_second_time = f"""
if os.path.exists({str(mark)!r}):
    try:
        send("GET", "/team")
    except OSError:
        pass
    raise SystemExit
"""
    slow_once = soon_the_second_time + STUBBORN.format(mark=mark)

    report = report_of(tmp_path, REFUSED_SOON, client(slow_once))

    assert 0 == report.status
    assert {REFUSED: "survived"} == report.outcomes


def test_a_client_that_asks_for_ever_hangs_where_a_fault_lasts(tmp_path: Path) -> None:
    options = ["--only", "getTeam#1+:rate_limited", "--timeout", "5"]

    report = report_of(tmp_path, options, client(SOUND))

    assert 1 == report.status
    assert {"getTeam#1+:rate_limited": "hung"} == report.outcomes


@pytest.mark.verify
def test_a_command_that_hung_twice_for_one_habit_is_not_awaited_again(
    tmp_path: Path,
) -> None:
    options = ["--only", "*#1+:*_*", "--timeout", "8"]

    report = report_of(tmp_path, options, client(SOUND))

    reasons = [row["why"] for row in report.content["not_run"]]
    assert 1 == report.status
    assert "hung" in report.outcomes.values()
    assert "the command hung in two cells like it" in reasons


def test_a_signal_ends_the_sweep_and_what_has_ended_is_reported(tmp_path: Path) -> None:
    mark = tmp_path / "refused"
    file = tmp_path / "report.json"
    options = ("--jobs", "1", "--only", "getTeam#1:[il]*", "--report", str(file))
    script = STUBBORN.format(mark=mark).replace("OSError", "urllib.error.HTTPError")
    with (
        pipe(mark) as reader,
        started(*EMULATOR, "sweep", *options, "--", *client(script)) as process,
    ):
        assert b"refused\n" == heard(reader)

        for _ in range(2):  # as timeout(1) does
            process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)

        assert process.returncode == 128 + signal.SIGTERM
        assert b"" == heard(reader)
    content = json.loads(file.read_text())
    (ended,) = content["cells"]
    (left,) = content["not_run"]
    assert "getTeam#1:lost-before-commit" == ended["cell"]
    assert "getTeam#1:internal_error" == left["cell"]
    assert "incomplete: 1 cell not tried" in " ".join(output.split())

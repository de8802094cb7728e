"""`sweep`: a command run again with each fault at each of its calls. Each test runs the real command."""

import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.sweep.cells import RECOVERABLE
from tests.cli.command import run_command, run_here
from tests.support.served import EMULATOR, PATIENCE_SECONDS, ROOT, Outcome, started

CLIENT = """
import json, os, sys, time, urllib.error, urllib.request
BASE, KEY = os.environ["IMAGE_WORKFLOW_BASE_URL"], os.environ["IMAGE_WORKFLOW_API_KEY"]

def send(method, path, body=None, key=None):
    headers = {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}
    if key: headers["Idempotency-Key"] = key
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers, method=method)) as answer:
        return json.loads(answer.read() or b"null")

def persist(method, path, body=None, key=None):
    while True:
        try:
            return send(method, path, body, key)
        except (OSError, ValueError) as error:
            if isinstance(error, urllib.error.HTTPError) and error.code not in (429, 500, 503): raise
            time.sleep(0.02)
"""
"""A client in a few lines: `send` asks once, `persist` until there is an answer."""

UPLOAD = """{"content_type": "image/png", "size_bytes": 5}"""
HASTY = f"""
send("GET", "/team")
send("POST", "/uploads", {UPLOAD}, "a")
"""
SOUND = f"""
persist("GET", "/team")
persist("POST", "/uploads", {UPLOAD}, "a")
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
    send("GET", "/team")
except OSError:
    mark = open("{mark}", "w")
    print("refused", file=mark, flush=True)
    time.sleep(600)
"""
"""It never ends once it was refused, not even when it is asked to; it then tells so in a file, which it holds open."""


PHOTOSHOOT = """
import os, sys, time
from tests.examiner.example_client import NEW_KEYS, PHOTO, load

time.sleep = lambda seconds: None
module = load(NEW_KEYS) if sys.argv[1] == "fresh" else load()
client = module.ImageWorkflow(os.environ["IMAGE_WORKFLOW_BASE_URL"], os.environ["IMAGE_WORKFLOW_API_KEY"])
product = client.create_product("Shirt", [client.upload(PHOTO, "image/png")["id"]])
client.photoshoot([product["id"]])
"""
"""The example client, which may be made to send every attempt with a key of its own."""


def client(script: str) -> list[str]:
    return [sys.executable, "-c", CLIENT + script]


def suite(test: Path, *options: str) -> list[str]:
    """The command that runs a file of tests."""
    plugins = ("-p", "image_workflow_emulator.pytest_plugin", "-p", "no:cacheprovider")
    return [
        sys.executable,
        "-m",
        "pytest",
        *plugins,
        "-c",
        os.devnull,
        *options,
        str(test),
    ]


def sweep(options: list[str], command: list[str], **variables: str) -> Outcome:
    environment = {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(ROOT),
        **variables,
    }
    words = ["--", *command] if command else []
    return run_command("sweep", "--jobs", "2", *options, *words, **environment)


def report_of(folder: Path, options: list[str], command: list[str]) -> tuple[int, Any]:
    """Run a sweep to its end; return its status and its report."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    found = sweep([*options, "--report", str(report)], command)
    assert report.exists(), found.complaint
    return found.status, json.loads(report.read_text())


def swept(
    folder: Path, options: list[str], command: list[str]
) -> tuple[int, dict[str, str]]:
    """Run a sweep to its end; return its status, and by cell how it ended."""
    status, report = report_of(folder, options, command)
    return status, {row["cell"]: row["outcome"] for row in report["cells"]}


def test_a_client_that_asks_once_fails_where_one_that_persists_survives(
    tmp_path: Path,
) -> None:
    options = [
        "--only",
        "createUpload#1:[lr]*",
        "--faults",
        "network,problems",
        "--strict",
        "off",
    ]
    status, hasty = swept(tmp_path, options, client(HASTY))
    assert (0, {"failed"}) == (status, set(hasty.values()))
    status, sound = swept(tmp_path, options, client(SOUND))
    survived = {
        cell.partition(":")[2]
        for cell, outcome in sound.items()
        if outcome == "survived"
    }
    assert status == 0
    assert {"rate_limited", "lost-before-commit", "lost-after-commit"} == survived


def test_runs_that_failed_are_told_the_mendable_first_each_with_the_line_that_repeats_it() -> (
    None
):
    found = sweep(
        ["--jobs", "1", "--only", "getTeam#1:*_*", "--seed", "7"], client(HASTY)
    )
    faults = [
        line.split()[1].partition(":")[2]
        for line in found.output.splitlines()
        if line.startswith("failed ")
    ]
    mendable = [fault for fault in faults if fault in RECOVERABLE]
    assert "rate_limited" in mendable
    assert mendable == faults[: len(mendable)] != faults
    for fault in faults:
        again = f"image-workflow-emulator sweep --seed=7 --only 'getTeam#1:{fault}' -- {sys.executable} -c"
        assert again in found.output
    count, runs = len(faults), len(faults) + len(mendable) + 1
    assert f"{count} cells to try" in found.complaint
    assert (
        f"{count} cells tried in {runs} runs: 0 survived, {count} failed, 0 hung, 0 damaged"
        in found.output
    )


def test_strict_also_refuses_runs_that_failed_unless_that_is_expected(
    tmp_path: Path,
) -> None:
    lost, expected = (
        ["--only", "getTeam#1:lost-*", "--strict"],
        tmp_path / "expected.yaml",
    )
    assert sweep(lost, client(HASTY)).status == 1
    expected.write_text(
        "- {cell: 'getTeam#1:*', outcome: failed, reason: it asks once}\n"
    )
    junit = tmp_path / "sweep.xml"
    assert (
        sweep(
            [*lost, "--expected", str(expected), "--report", str(junit)], client(HASTY)
        ).status
        == 0
    )
    assert 'failures="0"' in junit.read_text()


def test_a_sweep_that_ends_with_its_budget_leaves_no_files(tmp_path: Path) -> None:
    found = sweep(
        ["--faults", "all", "--budget", "1s"], client(SOUND), TMPDIR=str(tmp_path)
    )
    assert 3 == found.status
    assert "not tried, since the 1 s of --budget had passed" in " ".join(
        found.output.split()
    )
    assert "Traceback" not in found.complaint
    assert list(tmp_path.iterdir()) == []


@contextmanager
def pipe(path: Path) -> Iterator[int]:
    """Make a named pipe, and read it."""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield reader
    finally:
        os.close(reader)


def heard(reader: int) -> bytes:
    """What is written next to a pipe; nothing once nobody is left who holds it open."""
    assert select.select([reader], [], [], PATIENCE_SECONDS)[0]
    return os.read(reader, 4096)


REFUSED_SOON = ["--only", "getTeam#1:authentication_required", "--timeout", "5"]


@pytest.mark.verify
def test_a_command_without_an_end_is_hung_and_nothing_of_it_is_left(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "refused"
    with pipe(mark) as reader:
        found = swept(tmp_path, REFUSED_SOON, client(STUBBORN.format(mark=mark)))
        assert {b"refused"} == set(heard(reader).split())
        assert b"" == heard(reader)
    assert (1, {"getTeam#1:authentication_required": "hung"}) == found


@pytest.mark.verify
def test_a_run_that_was_only_slow_is_tried_again_and_not_hung(tmp_path: Path) -> None:
    mark = tmp_path / "refused"
    slow_once = (
        f"import os\nif os.path.exists({str(mark)!r}): raise SystemExit\n"
        + STUBBORN.format(mark=mark)
    )
    found = swept(tmp_path, REFUSED_SOON, client(slow_once))
    assert (0, {"getTeam#1:authentication_required": "survived"}) == found


@pytest.mark.parametrize(
    ("call", "rule", "keys", "outcome"),
    [
        ("createProduct#1", "made-twice", "fresh", "damaged"),
        pytest.param(
            *(
                "createProductPhotographyGeneration#1",
                "double-spend",
                "fresh",
                "damaged",
            ),
            marks=pytest.mark.verify,
        ),
        ("createProductPhotographyGeneration#1", "double-spend", "one", "survived"),
    ],
)
def test_a_client_that_makes_or_orders_twice_does_damage_though_it_succeeds(
    tmp_path: Path, call: str, rule: str, keys: str, outcome: str
) -> None:
    report = tmp_path / "report.json"
    found = sweep(
        ["--only", f"{call}:lost-after-commit", "--report", str(report)],
        [sys.executable, "-c", PHOTOSHOOT, keys],
    )
    (row,) = json.loads(report.read_text())["cells"]
    assert (outcome, 0, int(outcome == "damaged")) == (
        row["outcome"],
        row["status"],
        found.status,
    )
    errors = [
        finding["rule"] for finding in row["findings"] if finding["severity"] == "error"
    ]
    assert ([rule] if outcome == "damaged" else []) == errors


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("garbled", "survived"),
        ("cut", "failed"),
        pytest.param("stall", "hung", marks=pytest.mark.verify),
    ],
)
def test_a_client_without_a_time_limit_survives_garbage_and_hangs_where_no_answer_comes(
    tmp_path: Path, fault: str, outcome: str
) -> None:
    options = ["--only", f"getTeam#1:{fault}", "--timeout", "5"]
    assert {f"getTeam#1:{fault}": outcome} == swept(tmp_path, options, client(SOUND))[1]


def test_a_client_that_asks_for_ever_hangs_where_a_fault_lasts(tmp_path: Path) -> None:
    status, cells = swept(
        tmp_path, ["--only", "getTeam#1*:rate_limited", "--timeout", "5"], client(SOUND)
    )
    assert (
        1,
        {"getTeam#1:rate_limited": "survived", "getTeam#1+:rate_limited": "hung"},
    ) == (status, cells)


@pytest.mark.parametrize(
    ("options", "script", "complaint", "is_told_first"),
    [
        ([], "raise SystemExit(3)", "exited with status 3", False),
        ([], "pass", "called no operation", False),
        (
            ["--only", "getTaem#1:rate_limited"],
            SOUND,
            'did you mean "getTeam#1:rate_limited"?',
            False,
        ),
        (
            ["--faults", "luck"],
            SOUND,
            "recoverable, problems, network, outputs, client, all",
            True,
        ),
        (["--budget", "soon"], SOUND, "--budget", True),
        (["--jobs", "0"], SOUND, "--jobs", True),
        (["--scenario", "no-such"], SOUND, "no-such", False),
    ],
)
def test_what_cannot_be_swept_is_told(
    options: list[str], script: str, complaint: str, is_told_first: bool
) -> None:
    found = (
        run_here("sweep", *options, "--", *client(script))
        if is_told_first
        else sweep(options, client(script))
    )
    assert found.status == 2
    assert complaint in found.complaint


def test_a_signal_ends_the_sweep_and_all_of_its_runs_and_what_has_ended_is_reported(
    tmp_path: Path,
) -> None:
    mark, report = tmp_path / "refused", tmp_path / "report.json"
    options = ("--jobs", "1", "--only", "getTeam#1:[il]*", "--report", str(report))
    hangs_at_a_problem = STUBBORN.format(mark=mark).replace(
        "OSError", "urllib.error.HTTPError"
    )
    with (
        pipe(mark) as reader,
        started(
            *EMULATOR, "sweep", *options, "--", *client(hangs_at_a_problem)
        ) as process,
    ):
        assert b"refused\n" == heard(reader)
        for _ in range(2):  # as timeout(1) does
            process.send_signal(signal.SIGTERM)
        output, complaint = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 128 + signal.SIGTERM
        assert b"" == heard(reader)
    content = json.loads(report.read_text())
    assert ["getTeam#1:lost-before-commit"] == [run["cell"] for run in content["cells"]]
    assert [{"cell": "getTeam#1:internal_error", "test": ""}] == content["not_run"]
    assert "incomplete: 1 cell not tried" in " ".join(output.split())
    assert complaint.startswith("2 cells to try")

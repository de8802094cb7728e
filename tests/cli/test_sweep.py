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

from image_workflow_emulator.cli.sweep.cells import RECOVERABLE, Cell
from image_workflow_emulator.cli.sweep.runs import Run
from tests.cli.command import run_command, run_here
from tests.support.served import EMULATOR, PATIENCE_SECONDS, ROOT, Outcome, started

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups are those of POSIX")

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
IN_TWO_SANDBOXES = """
def status():
    try:
        return send("GET", "/team") and 200
    except urllib.error.HTTPError as error:
        return error.code

for name in "ab":
    BASE, KEY = os.environ["EMULATOR_URL"] + "/_emulator", "unused"
    send("POST", "/sandboxes", {{"id": name}})
    BASE, KEY = os.environ["IMAGE_WORKFLOW_BASE_URL"], "iwe_demo_full_" + name
    open({seen!r}, "a").write(str([status(), status()]))
"""
"""It calls the same operation twice in each of two sandboxes, and tells the statuses in a file."""

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


def suite(test: Path) -> list[str]:
    """The command that runs a file of tests."""
    plugins = ("-p", "image_workflow_emulator.pytest_plugin", "-p", "no:cacheprovider")
    return [sys.executable, "-m", "pytest", *plugins, "-c", os.devnull, str(test)]


def sweep(options: list[str], command: list[str], **variables: str) -> Outcome:
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), **variables}
    return run_command("sweep", "--jobs", "2", *options, "--", *command, **environment)


def swept(folder: Path, options: list[str], command: list[str]) -> tuple[int, dict[str, str]]:
    """Run a sweep to its end; return its status, and by cell how its run ended."""
    report = folder / "report.json"
    status = sweep([*options, "--report", str(report)], command).status
    return status, {row["cell"]: row["outcome"] for row in json.loads(report.read_text())["cells"]}


def test_a_client_that_asks_once_fails_where_one_that_persists_survives(tmp_path: Path) -> None:
    options = ["--only", "createUpload#1:[lr]*", "--faults", "network,problems", "--strict", "off"]
    status, hasty = swept(tmp_path, options, client(HASTY))
    assert (0, {"failed"}) == (status, set(hasty.values()))
    status, sound = swept(tmp_path, options, client(SOUND))
    survived = {cell.partition(":")[2] for cell, outcome in sound.items() if outcome == "survived"}
    assert status == 0
    assert {"rate_limited", "lost-before-commit", "lost-after-commit"} == survived


def test_runs_that_failed_are_told_the_mendable_first_each_with_the_line_that_repeats_it() -> None:
    found = sweep(["--jobs", "1", "--only", "getTeam#1:*_*", "--seed", "7"], client(HASTY))
    faults = [line.split()[1].partition(":")[2] for line in found.output.splitlines() if line.startswith("failed ")]
    mendable = [fault for fault in faults if fault in RECOVERABLE]
    assert "rate_limited" in mendable
    assert mendable == faults[: len(mendable)] != faults
    for fault in faults:
        again = f"image-workflow-emulator sweep --seed 7 --only 'getTeam#1:{fault}' -- {sys.executable} -c"
        assert again in found.output
    assert f"{len(faults)} runs to go, about " in found.complaint
    assert f"{len(faults)} runs: 0 survived, {len(faults)} failed, 0 hung, 0 damaged" in found.output


def test_strict_also_refuses_runs_that_failed_unless_that_is_expected(tmp_path: Path) -> None:
    lost, expected = ["--only", "getTeam#1:lost-*", "--strict"], tmp_path / "expected.yaml"
    assert sweep(lost, client(HASTY)).status == 1
    expected.write_text("- {cell: 'getTeam#1:*', outcome: failed, reason: it asks once}\n")
    junit = tmp_path / "sweep.xml"
    assert sweep([*lost, "--expected", str(expected), "--junit", str(junit)], client(HASTY)).status == 0
    assert 'tests="1" failures="0"' in junit.read_text()


def test_a_suite_that_fails_by_chance_is_told(tmp_path: Path) -> None:
    report, mark = tmp_path / "report.json", tmp_path / "mark"
    chance = f"""
try:
    send("GET", "/team")
except OSError:
    if not os.path.exists({str(mark)!r}): open({str(mark)!r}, "w"); raise
"""
    options = ["--only", "getTeam#1:lost-*", "--strict", "recoverable", "--report", str(report)]
    assert sweep(options, client(chance)).status == 0
    content = json.loads(report.read_text())
    assert (["getTeam#1:lost-before-commit"], "failed") == (content["flaky"], content["cells"][0]["outcome"])


@pytest.mark.verify
def test_a_failure_without_the_fault_is_the_suites_own(tmp_path: Path) -> None:
    report, mark = tmp_path / "report.json", tmp_path / "mark"
    tired = f"if os.path.exists({str(mark)!r}): sys.exit(1)\nsend('GET', '/team'); open({str(mark)!r}, 'w')"
    options = ["--only", "getTeam#1:lost-*", "--strict", "recoverable", "--report", str(report)]
    assert sweep(options, client(tired)).status == 0
    assert json.loads(report.read_text())["flaky"] == ["getTeam#1:lost-before-commit"]


def test_a_sweep_that_ends_with_its_budget_leaves_no_files(tmp_path: Path) -> None:
    found = sweep(["--faults", "all", "--budget", "1s"], client(SOUND), TMPDIR=str(tmp_path))
    assert "runs had not ended when the 1 s of --budget had passed" in found.output
    assert "Traceback" not in found.complaint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.verify
def test_a_sweep_ends_with_its_budget_and_names_what_it_did_not_run(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    options = ["--only", "getTeam#1:stall", "--budget", "1s", "--report", str(report)]
    found = sweep(options, client(SOUND))
    assert (0, ["getTeam#1:stall"]) == (found.status, json.loads(report.read_text())["not_run"])
    assert "the 1 s of --budget had passed" in found.output


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


REFUSED_SOON = ["--only", "getTeam#1:authentication_required", "--timeout", "2"]


@pytest.mark.verify
def test_a_command_without_an_end_is_hung_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    mark = tmp_path / "refused"
    with pipe(mark) as reader:
        found = swept(tmp_path, REFUSED_SOON, client(STUBBORN.format(mark=mark)))
        assert {b"refused"} == set(heard(reader).split())
        assert b"" == heard(reader)
    assert (1, {"getTeam#1:authentication_required": "hung"}) == found


@pytest.mark.verify
def test_a_run_that_was_only_slow_is_tried_again_and_not_hung(tmp_path: Path) -> None:
    mark = tmp_path / "refused"
    slow_once = f"import os\nif os.path.exists({str(mark)!r}): raise SystemExit\n" + STUBBORN.format(mark=mark)
    found = swept(tmp_path, REFUSED_SOON, client(slow_once))
    assert (0, {"getTeam#1:authentication_required": "survived"}) == found


def test_a_run_that_hung_is_not_taken_from_the_file_of_a_sweep_and_what_cannot_differ_is_left_out(
    tmp_path: Path,
) -> None:
    resume = tmp_path / "resume"
    options = ["--only", "getTeam#1:lost-*", "--resume", str(resume)]
    sweep(options, client(SOUND))
    head, line = resume.read_text().splitlines()
    resume.write_text("\n".join([head, json.dumps({**json.loads(line), "outcome": "hung", "status": None})]))
    assert (0, {"getTeam#1:lost-before-commit": "survived"}) == swept(tmp_path, options, client(SOUND))
    (left,) = json.loads((tmp_path / "report.json").read_text())["left_out"]
    assert ("getTeam#1:lost-after-commit", True) == (left["cell"], "lost-before-commit" in left["why"])


@pytest.mark.parametrize(
    ("call", "rule", "keys", "outcome"),
    [
        ("createProduct#1", "made-twice", "fresh", "damaged"),
        pytest.param(
            *("createProductPhotographyGeneration#1", "double-spend", "fresh", "damaged"), marks=pytest.mark.verify
        ),
        ("createProductPhotographyGeneration#1", "double-spend", "one", "survived"),
    ],
)
def test_a_client_that_makes_or_orders_twice_does_damage_though_it_succeeds(
    tmp_path: Path, call: str, rule: str, keys: str, outcome: str
) -> None:
    report = tmp_path / "report.json"
    found = sweep(
        ["--only", f"{call}:lost-after-commit", "--report", str(report)], [sys.executable, "-c", PHOTOSHOOT, keys]
    )
    (row,) = json.loads(report.read_text())["cells"]
    assert (outcome, 0, int(outcome == "damaged")) == (row["outcome"], row["status"], found.status)
    errors = [finding["rule"] for finding in row["findings"] if finding["severity"] == "error"]
    assert ([rule] if outcome == "damaged" else []) == errors


def test_a_call_is_counted_in_each_sandbox_and_struck_in_each(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = IN_TWO_SANDBOXES.format(seen=str(seen))
    status, cells = swept(tmp_path, ["--only", "getTeam#?:internal_error"], client(script))
    assert (0, ["getTeam#1:internal_error", "getTeam#2:internal_error"]) == (status, list(cells))
    assert (2, 2) == (seen.read_text().count("[500, 200]"), seen.read_text().count("[200, 500]"))


def test_two_calls_at_once_are_carried_out_in_the_other_order_too(tmp_path: Path) -> None:
    slow, script = (
        tmp_path / "slow.yaml",
        'import threading\nfor _ in "ab": threading.Thread(target=send, args=("GET", "/team")).start()',
    )
    slow.write_text("{scenario: slow, rules: [{match: {operation: getTeam}, then: {network: {latency: 300ms}}}]}")
    options = ["--scenario", str(slow), "--only", "*:overtaken"]
    assert (0, {"getTeam#1:overtaken": "survived"}) == swept(tmp_path, options, client(script))


@pytest.mark.verify
def test_what_fails_is_shortened_to_one_test_that_fails_alone(tmp_path: Path) -> None:
    test, report = tmp_path / "test_it.py", tmp_path / "report.json"
    test.write_text(
        "import httpx, pytest\n"
        "@pytest.mark.parametrize('attempts', [1, 2])\n"
        "def test_it(image_workflow, attempts):\n"
        "    headers = {'Authorization': f'Bearer {image_workflow.api_key}'}\n"
        "    statuses = {httpx.get(f'{image_workflow.base_url}/team', headers=headers).status_code for _ in range(attempts)}\n"
        "    assert 200 in statuses\n"
    )
    sweep(["--only", "getTeam#1:rate_limited", "--report", str(report)], suite(test))
    content = json.loads(report.read_text())
    (cause,) = content["causes"]
    assert cause["alone"].endswith("test_it[1]")
    assert f"--only 'getTeam#1:rate_limited' --test '{cause['alone']}' --" in cause["command"]
    sweep(["--only", "*rate_limited", "--test", cause["alone"], "--report", str(report)], suite(test))
    content = json.loads(report.read_text())
    assert [("getTeam#1:rate_limited", "failed")] == [
        (row["cell"], row["outcome"]) for row in content["cells"] if "+" not in row["cell"]
    ]


def test_a_run_of_a_suite_plays_only_the_tests_that_are_struck(tmp_path: Path) -> None:
    test, played = tmp_path / "test_it.py", tmp_path / "played"
    test.write_text(
        "import httpx, pytest\n"
        "def test_once(image_workflow): get(image_workflow, 1)\n"
        "def test_twice(image_workflow): get(image_workflow, 2)\n"
        f"def test_nothing(): open({str(played)!r}, 'a').write('nothing ')\n"
        "def get(image_workflow, times):\n"
        "    headers = {'Authorization': f'Bearer {image_workflow.api_key}'}\n"
        "    for _ in range(times): httpx.get(image_workflow.base_url + '/team', headers=headers)\n"
        f"    open({str(played)!r}, 'a').write(f'{{times}} ')\n"
    )
    assert sweep(["--only", "getTeam#?:internal_error", "--jobs", "1"], suite(test)).status == 0
    assert "1 2 nothing 1 2 2 " == played.read_text()


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [("garbled", "survived"), ("cut", "failed"), pytest.param("stall", "hung", marks=pytest.mark.verify)],
)
def test_a_client_without_a_time_limit_survives_garbage_and_hangs_where_no_answer_comes(
    tmp_path: Path, fault: str, outcome: str
) -> None:
    options = ["--only", f"getTeam#1:{fault}", "--timeout", "2"]
    assert {f"getTeam#1:{fault}": outcome} == swept(tmp_path, options, client(SOUND))[1]


def test_a_client_that_asks_for_ever_hangs_where_a_fault_lasts(tmp_path: Path) -> None:
    status, cells = swept(tmp_path, ["--only", "getTeam#1*:rate_limited", "--timeout", "2"], client(SOUND))
    assert (1, {"getTeam#1:rate_limited": "survived", "getTeam#1+:rate_limited": "hung"}) == (status, cells)


def test_a_client_that_asks_for_pages_until_the_cursor_is_empty_fails_under_another_reading(tmp_path: Path) -> None:
    script = """
page = send("GET", "/poses")["page"]
if page["next_cursor"] and not page["has_more"]: raise SystemExit(1)
"""
    status, cells = swept(tmp_path, ["--only", "reading:D2[69]=*"], client(script))
    assert (0, {"reading:D26=always-a-cursor": "failed"}) == (status, cells)


@pytest.mark.parametrize(
    ("attempts", "outcome"), [(2, "failed"), pytest.param(3, "survived", marks=pytest.mark.verify)]
)
def test_a_client_that_asks_twice_does_not_survive_a_pair(tmp_path: Path, attempts: int, outcome: str) -> None:
    script = f"""
for attempt in range({attempts}):
    try:
        send("POST", "/uploads", {UPLOAD}, "a")
        break
    except OSError:
        if attempt == {attempts} - 1: raise
"""
    pair = "createUpload#1:lost-after-commit & createUpload#2:rate_limited"
    smaller = {"createUpload#1:lost-after-commit": "survived"} if outcome == "failed" else {}
    assert {pair: outcome, **smaller} == swept(tmp_path, ["--only", pair], client(script))[1]


def test_programs_get_one_object_with_what_to_fix_and_the_command_that_shows_it_and_people_a_page(
    tmp_path: Path,
) -> None:
    report = tmp_path / "report.html"
    options = ["--only", "getTeam#1:rate_limited", "--format", "json", "--strict", "--report", str(report)]
    found = sweep(options, client(HASTY))
    answer = json.loads(found.output)
    assert (1, False) == (found.status, answer["ok"])
    assert ["1 call does not retry after 429 rate_limited"] == [one["remedy"] for one in answer["findings"]]
    assert [cause["command"] for cause in answer["causes"]] == answer["next"]
    page = report.read_text()
    assert 'id="getTeam#1:rate_limited"' in page
    assert "http" not in page.replace("http://127", "")


def test_a_sweep_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    resume = tmp_path / "resume"
    options = ["--only", "*#1:lost-*", "--resume", str(resume)]
    sweep(options, client(SOUND))
    lines = resume.read_text().splitlines()
    row: dict[str, Any] = {**json.loads(lines[1]), "outcome": "damaged"}
    resume.write_text("\n".join([lines[0], json.dumps(row), lines[2][:10]]))
    status, cells = swept(tmp_path, options, client(SOUND))
    assert (1, "damaged") == (status, cells[str(Cell(**row["cell"]))])
    assert 4 == len(resume.read_text().splitlines())
    assert sweep(["--resume", str(resume)], client(HASTY)).status == 2


def test_a_file_that_a_sweep_cannot_be_resumed_from_is_told_before_anything_is_run(tmp_path: Path) -> None:
    mark, binary = tmp_path / "run", tmp_path / "binary"
    binary.write_bytes(b"\xff\n")
    for file in (binary, tmp_path):
        found = sweep(["--resume", str(file)], client(f"open({str(mark)!r}, 'w')"))
        assert (2, False) == (found.status, mark.exists())
        assert f"--resume: {'cannot write ' if file.is_dir() else 'found '}" in found.complaint
        assert str(file) in found.complaint


def test_what_a_run_could_not_say_at_its_end_is_not_made_up() -> None:
    cell = Cell.read("getTeam#1:rate_limited")
    assert "no end in time, 41.0 s" == Run(cell, "hung", None, 41, struck=False).end
    assert "status 0, 1.0 s, the call was not made" == Run(cell, "survived", 0, 1, (), False).end


@pytest.mark.parametrize(
    ("options", "script", "complaint", "is_told_first"),
    [
        ([], "raise SystemExit(3)", "exited with status 3", False),
        ([], "pass", "called no operation", False),
        (["--only", "getTaem#1:rate_limited"], SOUND, 'did you mean "getTeam#1:rate_limited"?', False),
        (["--faults", "luck"], SOUND, "recoverable, problems, network, outputs, readings, all", True),
        (["--budget", "soon"], SOUND, "--budget", True),
        (["--jobs", "0"], SOUND, "--jobs", True),
        (["--scenario", "no-such"], SOUND, "no-such", False),
    ],
)
def test_what_cannot_be_swept_is_told(options: list[str], script: str, complaint: str, is_told_first: bool) -> None:
    found = run_here("sweep", *options, "--", *client(script)) if is_told_first else sweep(options, client(script))
    assert found.status == 2
    assert complaint in found.complaint


def test_a_signal_ends_the_sweep_and_all_of_its_runs_and_what_has_ended_is_reported(tmp_path: Path) -> None:
    mark, report = tmp_path / "refused", tmp_path / "report.json"
    options = ("--jobs", "1", "--only", "getTeam#1:[il]*", "--report", str(report))
    hangs_at_a_problem = STUBBORN.format(mark=mark).replace("OSError", "urllib.error.HTTPError")
    with pipe(mark) as reader, started(*EMULATOR, "sweep", *options, "--", *client(hangs_at_a_problem)) as process:
        assert b"refused\n" == heard(reader)
        for _ in range(2):  # as timeout(1) does
            process.send_signal(signal.SIGTERM)
        output, complaint = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 128 + signal.SIGTERM
        assert b"" == heard(reader)
    content = json.loads(report.read_text())
    assert ["getTeam#1:lost-before-commit"] == [run["cell"] for run in content["cells"]]
    assert ["getTeam#1:internal_error"] == content["not_run"]
    assert output.endswith("; incomplete: 1 run had not ended\n")
    assert complaint.startswith("2 runs to go")

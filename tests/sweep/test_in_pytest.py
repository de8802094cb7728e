"""Many cells in one run: what each test of a suite shows of its own cell."""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.served import EMULATOR, run_program
from tests.sweep.commands import Report, report_of, suite, sweep, written

LIMITED = "getTeam#1:rate_limited"

REPEATED = """
import sys
from pathlib import Path

@pytest.mark.parametrize("attempts", [1, 2])
def test_it(image_workflow, attempts):
    get(image_workflow, attempts)

def test_without_a_sandbox():
    with open({mark!r}, "a") as mark:
        mark.write("run ")

def test_bytecode(image_workflow):
    get(image_workflow, 2)
    assert not sys.dont_write_bytecode
    assert list(Path(sys.pycache_prefix).rglob("*.pyc"))

RULE = {{
    "match": {{"operation": "getTeam"}},
    "when": {{"nth": 1}},
    "then": {{"problem": "internal_error"}},
}}

@pytest.mark.image_workflow(scenario={{"scenario": "own", "rules": [RULE]}})
def test_marked(image_workflow):
    get(image_workflow, 3)
    codes = [request.code for request in image_workflow.requests()]
    assert "internal_error" in codes

def test_changed(image_workflow):
    image_workflow.use("internal-error")
    get(image_workflow, 3)
"""
"""Tests that are all repeated with one fault, but for the one without a sandbox."""


WITHOUT_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}


class Repeated(NamedTuple):
    """The sweep of REPEATED where Python may write no bytecode."""

    suite_file: Path
    marks_file: Path
    report: Report


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Repeated:
    marks_file = tmp_path_factory.mktemp("marks") / "runs"
    suite_folder = tmp_path_factory.mktemp("suite")
    suite_file = written(suite_folder, REPEATED.format(mark=str(marks_file)))
    report = report_of(
        tmp_path_factory.mktemp("report"),
        ["--only", LIMITED],
        suite(suite_file),
        **WITHOUT_BYTECODE,
    )
    return Repeated(suite_file, marks_file, report)


def test_one_run_has_another_cell_in_every_test_also_in_parametrized_ones(
    repeated: Repeated,
) -> None:
    report = repeated.report

    assert "failed" == report.outcomes_by_test[LIMITED, "test_it[1]"]
    assert "survived" == report.outcomes_by_test[LIMITED, "test_it[2]"]
    assert 3 == report.content["counts"]["runs"]


def test_a_test_without_a_sandbox_is_run_in_the_clean_run_alone(
    repeated: Repeated,
) -> None:
    assert "run " == repeated.marks_file.read_text()


def test_bytecode_that_may_not_be_written_is_kept_beside_the_sweep(
    repeated: Repeated,
) -> None:
    beside_the_suite = list(repeated.suite_file.parent.iterdir())

    assert "survived" == repeated.report.outcomes_by_test[LIMITED, "test_bytecode"]
    assert [repeated.suite_file] == beside_the_suite


def test_a_scenario_of_the_test_itself_stays(repeated: Repeated) -> None:
    report = repeated.report

    assert "survived" == report.outcomes_by_test[LIMITED, "test_marked"]
    assert "survived" == report.outcomes_by_test[LIMITED, "test_changed"]
    assert all(row["struck"] for row in report.content["cells"])


def test_the_command_of_a_cause_repeats_one_test(repeated: Repeated) -> None:
    (cause,) = repeated.report.content["causes"]
    (test,) = cause["tests"]
    options = ["--only", cause["cells"][0], "--test", test, "--strict"]

    again = sweep(options, suite(repeated.suite_file), **WITHOUT_BYTECODE)

    assert f"--only '{LIMITED}' --test '{test}' -- " in cause["command"]
    assert 1 == again.status


SOUND = """
def test_it(image_workflow, tmp_path):
    assert not list(tmp_path.iterdir())
    (tmp_path / "mark").touch()
    assert not image_workflow.requests()
    for attempt in range(3):
        try:
            get(image_workflow, 3)
            break
        except OSError:
            pass
"""
"""A test that needs fixtures of its own."""


def test_a_run_tries_several_cells_in_a_test_with_fixtures_of_its_own_each(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, SOUND)
    options = ["--jobs", "1", "--only", "getTeam#1:[ilr]*"]

    report = report_of(tmp_path, options, suite(file))

    assert "survived" == report.outcomes[LIMITED]
    assert "survived" == report.outcomes["getTeam#1:internal_error"]
    assert "survived" == report.outcomes["getTeam#1:lost-before-commit"]
    assert 3 == report.content["counts"]["runs"]


ONCE = """
RUNS = []

def test_once(image_workflow):
    RUNS.append(1)
    get(image_workflow, 2)
    get(image_workflow, 2)
    assert len(RUNS) == 1
"""
"""A test that fails whenever it is repeated in the same process."""


def test_a_test_that_fails_after_others_of_its_process_is_judged_alone(
    tmp_path: Path,
) -> None:
    options = ["--jobs", "1", "--only", "getTeam#[12]:[irs]*_*"]

    report = report_of(tmp_path, options, suite(written(tmp_path, ONCE)))

    assert {"survived"} == set(report.outcomes.values())
    assert [] == report.content["flaky"]


SHARED = """
@pytest.fixture(scope="module")
def shop(image_workflow_emulator):
    with image_workflow_emulator.sandbox() as sandbox:
        yield sandbox

def test_first(shop):
    get(shop, 2)

def test_second(shop):
    get(shop, 1)

def test_third(image_workflow):
    get(image_workflow, 1)
"""


def test_tests_that_share_a_sandbox_have_a_cell_together(tmp_path: Path) -> None:
    file = written(tmp_path, SHARED)

    report = report_of(tmp_path, ["--only", "getTeam#[12]:internal_error"], suite(file))

    assert {
        ("getTeam#1:internal_error", "shop"): "survived",
        ("getTeam#2:internal_error", "shop"): "failed",
        ("getTeam#1:internal_error", "test_third"): "failed",
    } == report.outcomes_by_test


@pytest.mark.verify
def test_a_suite_may_be_run_by_several_workers(tmp_path: Path) -> None:
    command = suite(written(tmp_path, SHARED), "-p", "xdist", "-n", "2")

    report = report_of(tmp_path, ["--only", "getTeam#1:internal_error"], command)

    assert "failed" == report.outcomes_by_test["getTeam#1:internal_error", "test_third"]


def test_a_test_that_fails_when_it_is_repeated_is_flaky(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    tired = f"""
from pathlib import Path

def test_tired(image_workflow):
    mark = Path({str(mark)!r})
    if mark.exists():
        pytest.fail("once is enough")
    mark.touch()
    get(image_workflow, 2)
"""
    options = ["--only", LIMITED, "--strict", "recoverable"]

    report = report_of(tmp_path, options, suite(written(tmp_path, tired)))

    assert 0 == report.status
    assert [LIMITED] == report.content["flaky"]


def test_a_test_that_does_not_end_is_ended_and_the_others_of_its_run_are_judged(
    tmp_path: Path,
) -> None:
    endless = """
def test_endless(image_workflow):
    try:
        get(image_workflow)
    except AssertionError:
        time.sleep(600)

def test_other(image_workflow):
    get(image_workflow, 2)
"""
    options = ["--only", LIMITED, "--timeout", "5"]

    report = report_of(tmp_path, options, suite(written(tmp_path, endless)))

    assert 1 == report.status
    assert "hung" == report.outcomes_by_test[LIMITED, "test_endless"]
    assert "survived" == report.outcomes_by_test[LIMITED, "test_other"]
    assert [True, True] == [row["struck"] for row in report.content["cells"]]


def test_what_a_test_leaves_undone_is_its_own_also_behind_a_control_token(
    tmp_path: Path,
) -> None:
    new_key = """
def test_it(image_workflow):
    try:
        post(image_workflow, "a")
    except OSError:
        post(image_workflow, "b")
"""
    lost = "createUpload#1:lost-after-commit"
    options = ["--only", lost, "--control-token", "open sesame"]

    report = report_of(tmp_path, options, suite(written(tmp_path, new_key)))

    (row,) = report.content["cells"]
    rules = [finding["rule"] for finding in row["findings"]]
    assert "write-retried-with-new-key" in rules


@pytest.mark.verify
def test_a_client_with_growing_pauses_does_not_hang(tmp_path: Path) -> None:
    patient = """
def test_patient(image_workflow):
    for pause in (1, 2, 4, 8, 8, 8, 4):
        try:
            get(image_workflow)
            break
        except AssertionError:
            time.sleep(pause)
"""
    file = written(tmp_path, patient)
    words = ("sweep", "--only", "getTeam#1+:rate_limited", "--", *suite(file))

    outcome = run_program(
        *EMULATOR,
        *words,
        seconds=240,
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
    )

    assert "1 survived" in outcome.output


# Pages and outputs --------------------------------------------------------------------


def test_a_list_that_the_clean_run_did_not_read_to_its_end_is_named(
    tmp_path: Path,
) -> None:
    first_page = """
def test_poses(image_workflow):
    try:
        send(image_workflow, "/poses?limit=1")
    except urllib.error.HTTPError:
        send(image_workflow, "/poses?limit=1")
"""
    command = suite(written(tmp_path, first_page))

    report = report_of(tmp_path, ["--only", "listPoses#1:rate_limited"], command)

    (unread,) = report.content["findings"]
    assert 0 == report.status
    assert "unread-page" == unread["rule"]
    assert "listPoses" in unread["message"]

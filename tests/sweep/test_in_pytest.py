"""Many cells in one run: what each test of a suite shows of its own cell."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.served import EMULATOR, ROOT, run_program
from tests.sweep.test_sweep import report_of, suite, sweep

CLIENT = """
import os, time
import httpx, pytest

def get(sandbox, attempts=1):
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    for attempt in range(attempts):
        answer = httpx.get(sandbox.base_url + "/team", headers=headers)
        if answer.status_code == 200:
            return
        time.sleep(PAUSE)
    raise AssertionError(answer.status_code)

PAUSE = 0.01
"""


def outcomes(
    folder: Path,
    tests: str,
    *options: str,
    words: tuple[str, ...] = (),
    status: int = 0,
) -> Any:
    """Sweep a file of tests; return by cell and test how it ended."""
    file = folder / "test_it.py"
    file.write_text(CLIENT + tests)
    found, report = report_of(folder, [*options], suite(file, *words))
    assert status == found
    return {
        (row["cell"], row["test"].rpartition("::")[2]): row["outcome"]
        for row in report["cells"]
    } | {"": report}


def test_one_run_has_another_cell_in_every_test_also_in_parametrized_ones(
    tmp_path: Path,
) -> None:
    tests = """
@pytest.mark.parametrize("attempts", [1, 2])
def test_it(image_workflow, attempts): get(image_workflow, attempts)
def test_nothing(): open(NAME, "a").write("run ")
""".replace("NAME", repr(str(tmp_path / "runs")))
    found = outcomes(tmp_path, tests, "--only", "getTeam#1:rate_limited")
    assert {"test_it[1]": "failed", "test_it[2]": "survived"} == {
        name[1]: found[name] for name in found if name
    }
    assert found[""]["counts"]["runs"] == 3
    assert (tmp_path / "runs").read_text() == "run "  # in the clean run alone
    (cause,) = found[""]["causes"]
    assert cause["command"].endswith(
        f"--test '{cause['tests'][0]}' -- " + cause["command"].rpartition(" -- ")[2]
    )
    more = sweep(
        ["--only", cause["cells"][0], "--test", cause["tests"][0], "--strict"],
        suite(tmp_path / "test_it.py"),
    )
    assert more.status == 1


@pytest.mark.parametrize(
    "words", [(), pytest.param(("-p", "xdist", "-n", "2"), marks=pytest.mark.verify)]
)
def test_tests_that_share_a_sandbox_have_a_cell_together(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    tests = """
@pytest.fixture(scope="module")
def shop(image_workflow_emulator):
    with image_workflow_emulator.sandbox() as sandbox: yield sandbox
def test_first(shop): get(shop, 2)
def test_second(shop): get(shop, 1)
def test_third(image_workflow): get(image_workflow, 1)
"""
    found = outcomes(
        tmp_path, tests, "--only", "getTeam#[12]:internal_error", words=words
    )
    del found[""]
    if words:
        assert found["getTeam#1:internal_error", "test_third"] == "failed"
        return
    assert found == {
        ("getTeam#1:internal_error", "shop"): "survived",
        ("getTeam#2:internal_error", "shop"): "failed",
        ("getTeam#1:internal_error", "test_third"): "failed",
    }


def test_a_scenario_of_the_test_itself_stays(tmp_path: Path) -> None:
    tests = """
@pytest.mark.image_workflow(scenario={"scenario": "own", "rules": [{"match": {"operation": "getTeam"}, "when": {"nth": 1}, "then": {"problem": "internal_error"}}]})
def test_marked(image_workflow):
    get(image_workflow, 3)
    assert any(request.code == "internal_error" for request in image_workflow.requests())
def test_changed(image_workflow):
    image_workflow.use("internal-error")
    get(image_workflow, 3)
"""
    found = outcomes(tmp_path, tests, "--only", "getTeam#1:rate_limited")
    assert {"survived"} == {
        found["getTeam#1:rate_limited", test]
        for test in ("test_marked", "test_changed")
    }
    assert all(row["struck"] for row in found[""]["cells"])


def test_a_test_that_fails_when_it_is_repeated_is_flaky(tmp_path: Path) -> None:
    tests = """
def test_tired(image_workflow):
    if os.path.exists(NAME): pytest.fail("once is enough")
    open(NAME, "w")
    get(image_workflow, 2)
""".replace("NAME", repr(str(tmp_path / "mark")))
    found = outcomes(
        tmp_path, tests, "--only", "getTeam#1:rate_limited", "--strict", "recoverable"
    )
    assert found[""]["flaky"] == ["getTeam#1:rate_limited"]


def test_a_test_that_does_not_end_is_ended_and_the_others_of_its_run_are_judged(
    tmp_path: Path,
) -> None:
    tests = """
def test_endless(image_workflow):
    try: get(image_workflow)
    except AssertionError: time.sleep(600)
def test_other(image_workflow): get(image_workflow, 2)
"""
    found = outcomes(
        tmp_path, tests, "--only", "getTeam#1:rate_limited", "--timeout", "3", status=1
    )
    assert found["getTeam#1:rate_limited", "test_endless"] == "hung"
    assert [True, True] == [row["struck"] for row in found[""]["cells"]]
    assert found["getTeam#1:rate_limited", "test_other"] == "survived"


def test_what_a_test_leaves_undone_is_its_own_also_behind_a_control_token(
    tmp_path: Path,
) -> None:
    tests = """
def make(sandbox, keys):
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    for key in keys:
        try:
            return httpx.post(sandbox.base_url + "/poses", json={}, headers=headers) and httpx.post(
                sandbox.base_url + "/uploads", json={"content_type": "image/png", "size_bytes": 5}, headers=headers | {"Idempotency-Key": key})
        except httpx.RequestError: pass
def test_it(image_workflow): make(image_workflow, "ab")
"""
    found = outcomes(
        tmp_path,
        tests,
        "--only",
        "createUpload#1:lost-after-commit",
        "--control-token",
        "open sesame",
    )
    (row,) = found[""]["cells"]
    assert "write-retried-with-new-key" in [one["rule"] for one in row["findings"]]


@pytest.mark.verify
def test_a_client_with_growing_pauses_does_not_hang(tmp_path: Path) -> None:
    tests = """
def test_patient(image_workflow):
    for pause in (1, 2, 4, 8, 8, 8, 4):
        try: return get(image_workflow)
        except AssertionError: time.sleep(pause)
"""
    file = tmp_path / "test_it.py"
    file.write_text(CLIENT + tests)
    words = ("sweep", "--only", "getTeam#1+:rate_limited", "--", *suite(file))
    assert (
        "1 survived"
        in run_program(
            *EMULATOR, *words, seconds=240, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
        ).output
    )


CLIENT_TESTS = """
def post(sandbox):
    headers = {"Authorization": f"Bearer {sandbox.api_key}", "Idempotency-Key": "a"}
    body = {"content_type": "image/png", "size_bytes": 5}
    return httpx.post(sandbox.base_url + "/uploads", json=body, headers=headers)
def test_reads(image_workflow): get(image_workflow)
def test_writes(image_workflow): assert post(image_workflow).status_code == 201
"""


def test_a_client_without_keys_or_credential_is_noticed_and_other_defects_are_not(
    tmp_path: Path,
) -> None:
    found = outcomes(tmp_path, CLIENT_TESTS, "--faults", "client")
    noticed = {name[0] for name, outcome in found.items() if outcome == "noticed"}
    assert noticed == {"client:drop-key", "client:drop-authorization"}
    report = found[""]
    assert ["client:new-key", "client:one-key"] == [
        one["where"] for one in report["findings"]
    ]
    assert {("unnoticed", "warning")} == {
        (one["rule"], one["severity"]) for one in report["findings"]
    }
    options = ["--only", "client:one-key", "--strict", "all"]
    assert sweep(options, suite(tmp_path / "test_it.py")).status == 1


@pytest.mark.verify
def test_eight_shards_merged_say_what_one_sweep_says(tmp_path: Path) -> None:
    file, reports = tmp_path / "test_it.py", []
    file.write_text(CLIENT + CLIENT_TESTS)
    text = (ROOT / "examples" / "container" / "sweep-shards.yml").read_text(
        encoding="utf-8"
    )
    of_shard, of_all = (
        shlex.split(line)[2:]
        for line in re.findall("- run: (image-workflow-emulator sweep .*)", text)
    )
    few = ["--only", "*#1:[cr]*"]
    status, whole = report_of(
        tmp_path, [*few, "--faults", "all", "--strict", "recoverable"], suite(file)
    )
    for number in range(1, 9):
        reports.append(str(tmp_path / f"shard-{number}.json"))
        options = [
            word.replace("shard-$SHARD.json", reports[-1]).replace(
                "$SHARD", str(number)
            )
            for word in of_shard
        ]
        assert sweep([*few, *options[: options.index("--")]], suite(file)).status == 0
    joined = tmp_path / "sweep.json"
    merging = of_all[: of_all.index("shard-*.json")]
    assert (
        sweep([*merging, *reports, "--report", str(joined)], []).status == status == 1
    )
    content = json.loads(joined.read_text())
    assert all(
        content[name] == whole[name]
        for name in ("classes", "causes", "not_run", "command")
    )
    assert sweep(["--merge", *reports[1:]], []).status == 3
    lacking = [
        *few,
        "--faults",
        "all",
        "--merge",
        *reports[1:],
        "--report",
        str(joined),
    ]
    assert sweep(lacking, suite(file)).status == 0
    assert json.loads(joined.read_text())["counts"]["runs"] < whole["counts"]["runs"]

"""The commands that show and change a running emulator: requests, scenario, teams, credentials, sandboxes."""

import io
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.cli.main import main
from tests.cli.command import ask, run_command
from tests.support.emulator_client import UPLOAD
from tests.support.served import (
    EMULATOR,
    PATIENCE_SECONDS,
    Outcome,
    Server,
    next_line,
    started,
    unused_port,
)


def run(server: Server, line: str, **variables: str) -> Outcome:
    return run_command(*line.split(), EMULATOR_URL=server.url, **variables)


def told(server: Server, line: str, **variables: str) -> str:
    """Run a command, which must succeed, and return its output."""
    outcome = run(server, line, **variables)
    assert (0, "") == (outcome.status, outcome.complaint)
    return outcome.output


def table(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_requests_are_listed_as_a_table_as_json_and_as_har(server: Server) -> None:
    ask(server, "/v1/team")
    ask(server, "/v1/team?a=%20&b", "iwe_demo_expired")
    _, *rows = table(told(server, "requests"))
    shown = [[row[0], *row[2:-3]] for row in rows]
    assert [
        ["1", "200", "getTeam"],
        ["2", "401", "getTeam", "credential_expired"],
    ] == shown
    assert 2 == len(
        table(
            told(
                server,
                "requests list --status 401 --operation getTeam --team Demo --limit 5",
            )
        )
    )
    cut = run(server, "requests --limit 1")
    assert ["2"] == [row[0] for row in table(cut.output)[1:]]
    assert "1 earlier request not shown (--limit N, up to 1000)\n" == cut.complaint
    as_json = json.loads(
        told(server, "requests --code credential_expired --limit 1 --format json")
    )
    assert ask(server, "/_emulator/requests?code=credential_expired") == as_json
    (entry,) = json.loads(told(server, "requests --status 401 --format har"))["log"][
        "entries"
    ]
    request = entry["request"]
    expected = (401, "GET", f"{server.url}/v1/team?a=%20&b")
    assert expected == (entry["response"]["status"], request["method"], request["url"])
    assert [{"name": "a", "value": " "}, {"name": "b", "value": ""}] == request[
        "queryString"
    ]
    assert (
        "credential_expired" == json.loads(entry["response"]["content"]["text"])["code"]
    )
    headers = {
        header["name"]: header["value"] for header in entry["response"]["headers"]
    }
    assert headers["content-length"] == str(entry["response"]["content"]["size"])
    assert told(server, "requests clear") == "done\n"
    assert [] == table(told(server, "requests"))[1:]


def test_a_request_is_explained_and_told_as_json(server: Server) -> None:
    ask(
        server,
        "/v1/uploads",
        body={"content_type": "image/png", "size_bytes": 5},
        method="POST",
    )
    assert "  ✓ credential: passed\n" in told(server, "requests show last")
    shown = json.loads(told(server, "requests show 1 --format json"))
    assert shown == shown | ask(server, "/_emulator/requests/1")


def test_what_struck_a_request_and_what_it_repeats_is_named(
    server: Server, tmp_path: Path
) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(
        "scenario: s\nrules:\n  - name: broken\n    match: {operation: getTeam}\n    then: {problem: internal_error}\n"
    )
    told(server, f"scenario use {file}")
    ask(server, "/v1/team")
    told(server, "scenario off")
    assert re.search(
        r"^rule  broken \(.+, line 3\): ",
        told(server, "requests show last"),
        re.MULTILINE,
    )
    for _ in range(2):
        ask(server, "/v1/uploads", body=UPLOAD, method="POST")
    assert re.search(
        r"^related  request 2: ", told(server, "requests show last"), re.MULTILINE
    )


def followed(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """The next request that a follower prints."""
    return dict(json.loads(next_line(process)))


@contextmanager
def following(server: Server, *filters: str) -> Iterator["subprocess.Popen[str]"]:
    """Start to follow requests; at the end, do as who has seen enough."""
    options = ("--follow", "--format", "json", "--url", server.url, *filters)
    with started(*EMULATOR, "requests", *options) as process:
        yield process
        process.send_signal(signal.SIGINT)
        assert (130, "") == (process.wait(PATIENCE_SECONDS), process.communicate()[1])


def test_requests_are_followed_as_they_are_answered_through_a_reset(
    server: Server,
) -> None:
    ask(server, "/v1/team")
    with following(server) as follower:
        entries = [followed(follower)]
        ask(server, "/v1/products")
        entries.append(followed(follower))
        ask(server, "/_emulator/reset", None, method="POST")
        ask(server, "/v1/poses")
        entries.append(followed(follower))
    told = [(entry["sequence"], entry["operation"]) for entry in entries]
    assert [(1, "getTeam"), (2, "listProducts"), (1, "listPoses")] == told


@pytest.mark.parametrize(
    "filters", [("--status", "401"), ("--team", "Other", "--operation", "getTeam")]
)
def test_what_is_followed_is_filtered_as_a_list_is(
    server: Server, filters: tuple[str, ...]
) -> None:
    keys = ("iwe_demo_full", "iwe_demo_revoked", "iwe_other_full")
    for key in keys:
        ask(server, "/v1/team", key)
    listed = json.loads(told(server, f"requests --format json {' '.join(filters)}"))[
        "data"
    ]
    with following(server, *filters) as follower:
        assert listed == [followed(follower)]
        for key in keys:
            ask(server, "/v1/team", key)
        assert listed[0]["sequence"] + 3 == followed(follower)["sequence"]


def test_a_scenario_is_used_shown_and_ended(server: Server) -> None:
    assert ["none", "-", "-", "-"] == table(told(server, "scenario"))[1]
    used = told(server, "scenario use batch-runs-dry").splitlines()
    assert used == ["using batch-runs-dry", "from the next reset on: its seed, clock"]
    shown = table(told(server, "scenario status"))
    assert ["batch-runs-dry", "photoshoots", "lose", "two", "slots", "0", "0"] in shown
    assert ask(server, "/_emulator/scenario") == json.loads(
        told(server, "scenario --format json")
    )
    assert ask(server, "/_emulator/scenarios") == json.loads(
        told(server, "scenario list --format json")
    )
    assert told(server, "scenario off") == "done\n"


def test_the_scenario_of_a_team_is_named_with_it_and_wherever_it_runs_on(
    server: Server,
) -> None:
    told(server, "scenario use some-outputs-fail --team Other")
    told(server, "scenario use batch-runs-dry")
    assert ["batch-runs-dry", "some-outputs-fail"] == [
        table(told(server, "scenario"))[row][0] for row in (1, -1)
    ]
    told(server, "scenario off")
    assert ["none", "some-outputs-fail"] == [
        row[0] for row in table(told(server, "scenario"))[1:]
    ]
    assert (
        "some-outputs-fail" == table(told(server, "scenario status --team Other"))[1][0]
    )
    told(server, "scenario off --team Other")
    assert ["none"] == [row[0] for row in table(told(server, "scenario"))[1:]]


def test_teams_are_listed_and_changed(server: Server) -> None:
    assert ["Demo", "100", "active"] == [
        table(told(server, "teams"))[1][column] for column in (0, 1, 3)
    ]
    changed = table(told(server, "teams set Demo credits=5 subscription=inactive"))[1]
    assert ["Demo", "5", "inactive"] == [changed[column] for column in (0, 1, 3)]
    assert ask(server, "/_emulator/teams") == json.loads(
        told(server, "teams list --format json")
    )


@pytest.mark.parametrize("key", ["iwe_demo_full", "iwe_demo_full_other"])
def test_credentials_are_listed_revoked_and_restored(server: Server, key: str) -> None:
    told(server, "sandboxes create other")
    try:
        rows = [row[1] for row in table(told(server, "credentials --sandbox other"))]
        assert "iwe_demo_full_other" in rows
        assert (
            "revoked"
            in table(told(server, f"credentials revoke {key} --sandbox other"))[1]
        )
        assert (
            "credential_revoked"
            == ask(server, "/v1/team", "iwe_demo_full_other")["code"]
        )
        assert told(
            server, f"credentials restore {key}", EMULATOR_SANDBOX="other"
        ).count(" active ")
        assert (
            "active"
            == json.loads(
                told(server, f"credentials restore {key} --sandbox other --format json")
            )["state"]
        )
        assert "Demo" == ask(server, "/v1/team", "iwe_demo_full_other")["name"]
    finally:
        told(server, "sandboxes delete other")


def test_sandboxes_are_created_for_people_programs_and_shells(server: Server) -> None:
    line = "sandboxes create {} --clock auto --scenario some-outputs-fail --rate-limits off --seed 3"
    assert "auto" == table(told(server, line.format("a")))[1][2]
    made = json.loads(
        told(
            server, line.format("b") + " --start 2030-01-01T00:00:00.000Z --format json"
        )
    )
    assert ask(server, "/_emulator/sandboxes/b") == made
    assert told(server, line.format("c") + " --format env").splitlines() == [
        f"IMAGE_WORKFLOW_BASE_URL={server.url}/v1",
        "IMAGE_WORKFLOW_API_KEY=iwe_demo_full_c",
        f"EMULATOR_URL={server.url}",
        "EMULATOR_SANDBOX=c",
    ]
    assert ["ID", "default", "a", "b", "c"] == [
        row[0] for row in table(told(server, "sandboxes"))
    ]
    assert ["done\n"] * 3 == [
        told(server, f"sandboxes delete {name}") for name in "abc"
    ]


@pytest.mark.parametrize(
    ("line", "status", "complaint"),
    [
        ("requests show 99", 1, '"99": found no such entry'),
        ("requests show last", 1, "the journal is empty"),
        ("scenario use no-such", 1, 'scenarios: found "no-such"'),
        pytest.param(
            f"scenario use {'a' * 100_000}",
            1,
            'scenarios: found "aaa',
            id="a long name of a scenario",
        ),
        ("scenario use none.yaml", 2, "cannot read none.yaml: no such file"),
        ("scenario use ./answer-lost", 2, "cannot read answer-lost: no such file"),
        (
            "sandboxes create --scenario none.yaml",
            2,
            "cannot read none.yaml: no such file",
        ),
        ("sandboxes create --world none", 2, "cannot read none: no such file"),
        ("sandboxes create --world README.md", 2, "README.md:"),
        ("state load README.md", 2, "README.md: the file is not a state file"),
        (
            "state load no/such.zip",
            2,
            "cannot read no/such.zip: no such file or directory\n",
        ),
        (
            "state load /dev/zero",
            2,
            "/dev/zero: expected a file, not a device or a pipe\n",
        ),
        (
            "state save no/such.zip",
            2,
            "cannot write no/such.zip: no such file or directory\n",
        ),
        ("teams set Demo credits=--5", 2, '/credits: found "--5"'),
        (
            "teams set Demo credits",
            2,
            "teams set: found 'credits', expected NAME=VALUE",
        ),
        (
            "credentials revoke nothing",
            1,
            "'nothing': the sandbox 'default' has no such key",
        ),
        ("clock to noon", 2, '/to: found "noon"'),
        ("clock mode fast", 2, '/mode: found "fast"'),
        ("clock --sandbox nothing", 1, '"nothing": there is no such sandbox'),
        ("clock --sandbox a/../b", 1, '"a/../b": there is no such sandbox'),
    ],
)
def test_bad_usage_ends_with_2_and_a_missing_thing_with_1(
    server: Server, line: str, status: int, complaint: str
) -> None:
    outcome = run(server, line)
    assert (status, "") == (outcome.status, outcome.output)
    assert outcome.complaint.startswith(f"image-workflow-emulator: {complaint}")


def test_a_name_means_the_library_else_a_file(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("answer-lost", "mine"):
        (tmp_path / name).write_text("scenario: from-a-file\n")
    for name, meaning in {
        "answer-lost": "answer-lost",
        "./answer-lost": "from-a-file",
        "mine": "from-a-file",
    }.items():
        assert told(server, f"scenario use {name}") == f"using {name}\n"
        assert meaning == json.loads(told(server, "scenario --format json"))["scenario"]


def test_the_address_is_that_of_a_url_below_it_or_of_host_and_port_where_none_is_given(
    server: Server,
) -> None:
    for path in ("/", "/v1", "/_emulator"):
        assert 0 == run_command("clock", EMULATOR_URL=server.url + path).status
    assert (
        0
        == run_command(
            "clock", EMULATOR_HOST="0.0.0.0", EMULATOR_PORT=str(server.port)
        ).status
    )
    with unused_port() as port:
        assert (
            1
            == run_command(
                "clock",
                "--url",
                f"http://127.0.0.1:{port}",
                EMULATOR_PORT=str(server.port),
            ).status
        )


class Screen(io.StringIO):
    """A terminal as wide as COLUMNS says."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize(
    "line",
    [
        "requests",
        "contract operations",
        "contract readings",
        "teams",
        "sandboxes",
        "credentials",
        "scenario list",
    ],
)
def test_a_table_fits_the_terminal(
    server: Server, line: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(server, "/v1/team")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("EMULATOR_URL", server.url)
    with redirect_stdout(Screen()) as screen:
        assert main(line.split()) == 0
    shown = re.sub(r"\x1b\[\d*m", "", screen.getvalue())
    assert max(map(len, shown.splitlines())) <= columns
    plain = run_command(*line.split(), EMULATOR_URL=server.url).output
    assert sorted(re.sub(r"\s", "", shown)) == sorted(re.sub(r"\s", "", plain))

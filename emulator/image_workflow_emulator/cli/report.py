"""The report of `exec`: the requests of the command and their outcome, as text for people and as JSON for programs.

The text is made of the JSON, which has these keys. New ones may be added; these keep their name and meaning as long as `version` is 1.

- `format`, `version`: what this is.
- `emulator`: the version of the emulator.
- `command`: its words; `exit_status`: what `exec` returned; `duration_ms`: how long it ran, in real time.
- `emulator_time_ms`: the time that passed on the clocks of all sandboxes together, resets included.
- `requests`: each with `operation` (null for what is no operation), `bytes` (`upload` or `download` for the byte surfaces),
  `status` (null where there was no answer), `count`, and how many of them were `replayed` (a stored answer was sent again)
  and `lost` (by a scenario, on the wire); `requests_total` of them, of whose journal entries `journal_dropped` could not be
  kept.
- `problems`: how often each problem code was answered.
- `credits_charged`; `credits_reserved` for work that was not finished; `highest_concurrency`, the most unfinished work of
  one Team at once.
- `teams`: the same for each, with `name` and `concurrency_limit`. Teams of one name count as one.
- `rules`: those of every scenario that ran, each with `scenario`, `name`, and how many requests (or pieces of work) it
  `matched` and on how many it `fired`.
- `readings`: those of the default sandbox that are not plain, such as `D66=silent`.
- `conduct`: what the command did wrong, as in `GET /_emulator/conduct`, with the `sandbox` of each finding; null with
  `--conduct off`. `not_checked` names the rules that could not be checked since an auto clock took every wait.
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, TypeAlias

from image_workflow_emulator import __version__
from image_workflow_emulator.cli.junit import Case, junit_text
from image_workflow_emulator.cli.observers import RequestCount
from image_workflow_emulator.cli.verdict import finding, gaps_of, shortened, verdict
from image_workflow_emulator.examiner.findings import SEVERITIES, request_numbers
from image_workflow_emulator.examiner.judgement import Totals
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID
from image_workflow_emulator.service.sandbox.tally import Tally

FORMAT = "image-workflow-emulator report"
VERSION = 1
CONDUCT_SUITE = "image-workflow-emulator.conduct"
_MAX_COMMAND: Final = 200
"""A longer command stands as CMD in the commands to run next."""

NO_REQUEST = (
    "  warning: the command sent no request to its emulator: does it call the address in IMAGE_WORKFLOW_BASE_URL?"
)
_NO_OPERATION = "(no operation)"
_NO_ANSWER = "no answer"

Report: TypeAlias = dict[str, Any]


def report_on(
    command: Sequence[str],
    exit_status: int,
    duration_ms: int,
    requests: Counter[RequestCount],
    tally: Tally,
    operations: Sequence[str],
    conduct: Totals | None = None,
    readings: Sequence[str] = (),
) -> Report:
    """Return the report as JSON; the head of this file says what is in it. `operations` gives their order."""
    problems = Counter[str]()
    for outcome, count in requests.items():
        if outcome.code is not None:
            problems[outcome.code] += count
    return {
        "format": FORMAT,
        "version": VERSION,
        "emulator": __version__,
        "command": list(command),
        "exit_status": exit_status,
        "duration_ms": duration_ms,
        "emulator_time_ms": tally.emulator_ms,
        "requests_total": requests.total(),
        "requests": _requests(requests, operations),
        "journal_dropped": tally.dropped,
        "problems": dict(sorted(problems.items(), key=lambda row: (-row[1], row[0]))),
        "credits_charged": sum(team.credits_charged for team in tally.teams.values()),
        "credits_reserved": sum(team.credits_reserved for team in tally.teams.values()),
        "highest_concurrency": max((team.highest_concurrency for team in tally.teams.values()), default=0),
        "teams": [{"name": name, **asdict(team)} for name, team in tally.teams.items()],
        "rules": [
            {"scenario": scenario, "name": name, "matched": rule.matched, "fired": rule.fired}
            for (scenario, name), rule in tally.rules.items()
        ],
        "readings": list(readings),
        "conduct": conduct.as_json() if conduct else None,
    }


def _requests(requests: Counter[RequestCount], operations: Sequence[str]) -> list[dict[str, Any]]:
    """Count the requests by operation or byte surface, in their order, and by status."""
    order = (*operations, *BYTE_SURFACES, None)
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for one, count in requests.items():
        place = order.index(one.operation or one.byte_surface), one.status or 0
        kind = {"operation": one.operation, "bytes": one.byte_surface, "status": one.status}
        row = rows.setdefault(place, {**kind, "count": 0, "replayed": 0, "lost": 0})
        for name, applies in (("count", True), ("replayed", one.is_replayed), ("lost", one.is_lost)):
            row[name] += count * applies
    return [rows[place] for place in sorted(rows)]


def report_text(report: Report) -> str:
    """Return the report for people, as lines."""
    credits_charged, seconds = count_of(report["credits_charged"], "Credit"), report["emulator_time_ms"] / 1000
    head = f"{count_of(report['requests_total'], 'request')}, {credits_charged} charged, {seconds:g} s of emulator time"
    lines = [f"Image Workflow Emulator: {head}", *_request_lines(report["requests"])]
    if report["readings"]:
        lines.append(f"  readings: {', '.join(report['readings'])}")
    if not report["requests"]:
        lines.append(NO_REQUEST)
    if report["problems"]:
        lines.append(f"  problems: {', '.join(f'{code} {count}' for code, count in report['problems'].items())}")
    lines += [f"  {_team_words(team)}" for team in report["teams"] if team["highest_concurrency"]]
    if report["journal_dropped"]:
        lines.append(f"  {report['journal_dropped']} of them are no longer in the journal, but counted here")
    for rule in report["rules"]:
        if not rule["fired"]:
            from image_workflow_emulator.testing.sandbox import Rule

            counted = Rule(name=rule["name"], matched=rule["matched"], fired=0)
            lines.append(f"  warning: {counted.never_fired(rule['scenario'])}")
    return "\n".join([*lines, *conduct_lines(report)])


def _request_lines(requests: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    by_place: dict[str, list[str]] = {}
    for row in requests:
        fates = ", ".join(f"{row[fate]} {fate}" for fate in ("replayed", "lost") if row[fate])
        words = f"{row['status'] or _NO_ANSWER}: {row['count']}" + (f" ({fates})" if fates else "")
        by_place.setdefault(row["operation"] or row["bytes"] or _NO_OPERATION, []).append(words)
    width = max(map(len, by_place), default=0)
    return (f"  {place:{width}}  {'  '.join(words)}" for place, words in by_place.items())


def _team_words(team: Mapping[str, Any]) -> str:
    reserved = f", {team['credits_reserved']} reserved for unfinished work" if team["credits_reserved"] else ""
    return (
        f"{team['name']}: {count_of(team['credits_charged'], 'Credit')} charged{reserved}; "
        f"highest concurrency {team['highest_concurrency']} of {team['concurrency_limit']}"
    )


def conduct_lines(report: Report) -> Iterator[str]:
    """List the findings, each with its sentence of the specification, and the remedy."""
    conduct = report["conduct"] or {"findings": [], "not_checked": []}
    severities = Counter(finding["severity"] for finding in conduct["findings"])
    if severities:
        yield f"  conduct: {', '.join(count_of(severities[word], word) for word in SEVERITIES if severities[word])}"
    if conduct["not_checked"]:
        yield f"  not checked on an auto clock: {', '.join(conduct['not_checked'])}"
    told: set[str] = set()
    for one in conduct["findings"]:
        user_agent, sandbox = one["client"]["user_agent"], one["sandbox"]
        where = request_numbers(one["requests"]) + (f", by {user_agent}" if user_agent else "")
        where += "" if sandbox == DEFAULT_SANDBOX_ID else f", in the sandbox {sandbox}"
        yield f"  {one['severity']}: {one['rule']}: {one['message']} ({where})"
        advice = (one["source"], f"remedy: {one['remedy']}")
        yield from (f"    {line}" for line in advice if line not in told)
        told.update(advice)


# For CI and for programs ------------------------------------------------------------------------------------------------


def conduct_junit(report: Report, fails: bool) -> str:
    """Return the conduct of a run, with a case for each rule. `fails`: errors make the run fail."""
    conduct = report["conduct"] or {"findings": [], "checked": {}, "not_checked": []}
    cases = []
    for rule, number in conduct["checked"].items():
        found = [finding for finding in conduct["findings"] if finding["rule"] == rule]
        errors = [finding["message"] for finding in found if fails and finding["severity"] == "error"]
        is_off = rule in conduct["not_checked"]
        why = "not checked on an auto clock" if is_off else "nothing that this rule is about has happened"
        skipped = None if found or number else why
        cases.append(Case(rule, "; ".join(errors) or None, skipped, "".join(map(_case_text, found))))
    return junit_text(CONDUCT_SUITE, cases)


def _case_text(finding: dict[str, Any]) -> str:
    requests = ", ".join(map(str, finding["requests"]))
    sentences = f"{finding['severity']}: {finding['message']}\nrequests: {requests}\n{finding['source']}\n"
    return f"{sentences}remedy: {finding['remedy']}\n"


def exec_verdict(
    report: Report, command_status: int, coverage: Mapping[str, Any], refused: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the one object that `exec --format json` prints, in at most 4,096 bytes; `command_status` is the command's own."""
    found = []
    for one in (report["conduct"] or {"findings": []})["findings"]:
        inside = "" if one["sandbox"] == DEFAULT_SANDBOX_ID else f" of the sandbox {one['sandbox']}"
        where = request_numbers(one["requests"]) + inside
        found.append(finding(one["rule"], one["severity"], where, one["remedy"]))
    severities = Counter(one["severity"] for one in found)
    requests = report["requests_total"]
    if not requests:
        remedy = "let the command call the address in IMAGE_WORKFLOW_BASE_URL"
        found.insert(0, finding("no-request", "warning", None, remedy))
    unmet = [gap["where"] for gap in gaps_of(coverage)]
    never = [f"{rule['scenario']}: {rule['name']}" for rule in report["rules"] if not rule["fired"]]
    summary = (
        f"the command exited with {command_status}; {count_of(requests, 'request')}, "
        f"{count_of(sum(one['count'] for one in refused), 'refusal')}, {count_of(len(found), 'finding')}"
    )
    is_good = report["exit_status"] == 0
    command = shlex.join(report["command"])
    command = command if len(command) <= _MAX_COMMAND else "CMD"
    step = f"sweep -- {command}" if is_good and not found else f"exec --journal journal.json -- {command}"
    answer = verdict(summary, found, ok=is_good, commands=[f"image-workflow-emulator {step}"])
    answer["data"] = {
        "exit": command_status,
        "refusals": refused,
        "conduct": severities,
        "coverage": {"percent": coverage["percent"], "unmet": unmet},
        "rules_never_fired": never,
        "left_out": 0,
    }
    return shortened(answer, [answer["findings"], refused, unmet, never])

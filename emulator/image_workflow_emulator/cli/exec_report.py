"""The report of `exec`: the requests of the command and their outcome, its conduct, and what it covered.

Beside what every report has, its JSON has these members:

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
- `conduct`: the findings as in `GET /_emulator/conduct`, with the `sandbox` of each; null with `--conduct off`.
  `not_checked` names the rules that could not be checked since an auto clock took every wait.
- `data`, for programs that look at no more: `exit` (the status of the command), `refusals` (each with `operation`, `code`,
  `count` and `remedy`), `conduct` (the number of findings by severity), `coverage` (`percent`, and what is `unmet` of the
  operations in use), and `rules_never_fired`.
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, structs

from image_workflow_emulator import __version__
from image_workflow_emulator.cli.observers import RequestCount, Tally, Totals
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID

if TYPE_CHECKING:
    from image_workflow_emulator.examiner.coverage import Coverage

_MAX_COMMAND: Final = 200
"""A longer command stands as CMD in the commands to run next."""


class Execution(Struct, kw_only=True):
    """What happened while the command ran. `operations` gives the order of the requests."""

    command: Sequence[str]
    status: int
    """What the command exited with."""
    exit_status: int
    """What `exec` exits with."""
    duration_ms: int
    requests: Counter[RequestCount]
    refusals: Sequence[Mapping[str, Any]]
    tally: Tally
    operations: Sequence[str]
    conduct: Totals | None
    needs_requests: bool
    """Whether a command without requests has failed."""
    readings: Sequence[str]
    coverage: "Coverage | None"
    least_coverage: float | None


def report_on(run: Execution) -> Report:
    """Return the report; the head of this file says what is in it."""
    requests, tally = _rows_of(run.requests, run.operations), run.tally
    teams = [{"name": name, **asdict(team)} for name, team in tally.teams.items()]
    problems = Counter[str]()
    for outcome, count in run.requests.items():
        if outcome.code is not None:
            problems[outcome.code] += count
    details = {
        "emulator": __version__,
        "command": list(run.command),
        "exit_status": run.exit_status,
        "duration_ms": run.duration_ms,
        "emulator_time_ms": tally.emulator_ms,
        "requests_total": run.requests.total(),
        "requests": requests,
        "journal_dropped": tally.dropped,
        "problems": dict(problems.most_common()),
        "credits_charged": sum(team["credits_charged"] for team in teams),
        "credits_reserved": sum(team["credits_reserved"] for team in teams),
        "highest_concurrency": max((team["highest_concurrency"] for team in teams), default=0),
        "teams": teams,
        "rules": [
            {"scenario": scenario, "name": name, "matched": rule.matched, "fired": rule.fired}
            for (scenario, name), rule in tally.rules.items()
        ],
        "readings": list(run.readings),
    }
    findings = [*_conduct_findings(run), *_findings(run)]
    seconds, charged = tally.emulator_ms / 1000, count_of(details["credits_charged"], "Credit")
    summary = f"{count_of(run.requests.total(), 'request')}, {charged} charged, {seconds:g} s of emulator time"
    conduct, details["conduct"] = run.conduct, None
    if conduct is not None:
        from image_workflow_emulator.cli.judges import conduct_words

        summary += f"; conduct: {conduct_words([finding for _, finding in conduct.findings], conduct.checked)}"
        members = [{"sandbox": sandbox, **structs.asdict(finding)} for sandbox, finding in conduct.findings]
        details["conduct"] = {"findings": members, "not_checked": list(conduct.not_checked)}
    is_good = run.exit_status == 0
    return Report(
        kind="exec",
        ok=is_good,
        summary=f"Image Workflow Emulator: {summary}",
        findings=findings,
        counts={name: details[name] for name in ("requests_total", "credits_charged", "credits_reserved")},
        checked=conduct.checked if conduct else {},
        tables=[ReportTable(title="", columns=(), rows=list(_lines(run, details)))],
        next=[_next(run.command, is_good and not findings)],
        details=details | {"data": _data(run)},
        status=run.exit_status,
    )


def _rows_of(requests: Counter[RequestCount], operations: Sequence[str]) -> list[dict[str, Any]]:
    """Count the requests by operation or byte surface, in their order, and by status."""
    order = (*operations, *BYTE_SURFACES, None)
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for one, count in requests.items():
        place = order.index(one.operation or one.byte_surface), one.status or 0
        kind = {"operation": one.operation, "bytes": one.byte_surface, "status": one.status}
        row = found.setdefault(place, {**kind, "count": 0, "replayed": 0, "lost": 0})
        for name, applies in (("count", True), ("replayed", one.is_replayed), ("lost", one.is_lost)):
            row[name] += count * applies
    return [found[place] for place in sorted(found)]


def _conduct_findings(run: Execution) -> Iterator[ReportFinding]:
    if run.conduct is not None:
        from image_workflow_emulator.cli.judges import conduct_finding

        for sandbox, finding in run.conduct.findings:
            yield conduct_finding(finding, "" if sandbox == DEFAULT_SANDBOX_ID else f", in the sandbox {sandbox}")


def _findings(run: Execution) -> Iterator[ReportFinding]:
    """Iterate over what makes the run worth less than it seems."""
    if not run.requests:
        yield ReportFinding(
            rule="no-request",
            severity="error" if run.needs_requests else "warning",
            where=None,
            message="the command sent no request to its emulator",
            remedy="let it call the address in IMAGE_WORKFLOW_BASE_URL",
        )
    for (scenario, name), counts in run.tally.rules.items():
        if not counts.fired:
            from image_workflow_emulator.testing.sandbox import Rule  # which takes time to import

            message = Rule(name=name, matched=counts.matched, fired=0).never_fired(scenario)
            yield ReportFinding(rule="rule-never-fired", severity="warning", where=None, message=message)
    if run.coverage is not None and run.coverage["percent"] < (run.least_coverage or 0):
        message = f"{run.coverage['percent']:g} % of the contract; wanted {run.least_coverage:g} %"
        yield ReportFinding(rule="coverage", severity="error", where=None, message=message)


def _lines(run: Execution, details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Iterate over what people read of a run: names, and what is known of them."""
    yield from _request_lines(details["requests"])
    if run.readings:
        yield "readings", ", ".join(run.readings)
    if details["problems"]:
        yield "problems", ", ".join(f"{code} {count}" for code, count in details["problems"].items())
    for team in details["teams"]:
        if team["highest_concurrency"]:
            yield team["name"], _team_words(team)
    if run.tally.dropped:
        yield "journal", f"{run.tally.dropped} of the requests are no longer in it, but counted here"
    if details["conduct"] and details["conduct"]["not_checked"]:
        yield "not checked", f"{', '.join(details['conduct']['not_checked'])}: an auto clock takes every wait"
    if run.coverage is not None:
        from image_workflow_emulator.cli.judges import coverage_words

        yield "coverage", coverage_words(run.coverage)


def _request_lines(requests: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    by_place: dict[str, list[str]] = {}
    for row in requests:
        fates = ", ".join(f"{row[fate]} {fate}" for fate in ("replayed", "lost") if row[fate])
        words = f"{row['status'] or 'no answer'}: {row['count']}" + (f" ({fates})" if fates else "")
        by_place.setdefault(row["operation"] or row["bytes"] or "(no operation)", []).append(words)
    return ((place, "  ".join(words)) for place, words in by_place.items())


def _team_words(team: Mapping[str, Any]) -> str:
    reserved = f", {team['credits_reserved']} reserved for unfinished work" if team["credits_reserved"] else ""
    return (
        f"{count_of(team['credits_charged'], 'Credit')} charged{reserved}; "
        f"highest concurrency {team['highest_concurrency']} of {team['concurrency_limit']}"
    )


def _next(words: Sequence[str], is_clean: bool) -> str:
    """Return the command to run next: one that finds more, or one that shows what happened."""
    command = shlex.join(words)
    command = command if len(command) <= _MAX_COMMAND and command.isprintable() else "CMD"
    return f"image-workflow-emulator {'sweep' if is_clean else 'exec --journal journal.json'} -- {command}"


def _data(run: Execution) -> dict[str, Any]:
    unmet, percent = [], None
    if run.coverage is not None:
        from image_workflow_emulator.examiner.coverage import rows

        unmet = [f"{name} {gap}" for name, met, _, gaps in rows(run.coverage) if met for gap in gaps]
        percent = run.coverage["percent"]
    return {
        "exit": run.status,
        "refusals": run.refusals,
        "conduct": Counter(finding.severity for _, finding in run.conduct.findings) if run.conduct else {},
        "coverage": {"percent": percent, "unmet": unmet},
        "rules_never_fired": [
            f"{scenario}: {name}" for (scenario, name), counts in run.tally.rules.items() if not counts.fired
        ],
    }

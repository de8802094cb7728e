"""The report of `exec`: what the command sent, and what that shows.

Beside what every report has, its JSON has `data`, for programs that look at no more:
`exit` (the status of the command), `refusals` (each with `operation`, `code`, `count`
and `remedy`), `conduct` (the number of findings by severity), `coverage` (`percent`,
and what is `unmet` of the operations in use), and `rules_never_fired`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from image_workflow_emulator.cli.judges import (
    conduct_words,
    coverage_words,
    judged_words,
)
from image_workflow_emulator.cli.next_command import TypedCommand
from image_workflow_emulator.cli.observation import Observation, RunScenario
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import (
    Report,
    ReportFinding,
    ReportTable,
    Severity,
)


class Ended(Struct, frozen=True, kw_only=True):
    """A command that has ended, and what happened."""

    typed: TypedCommand
    status: int
    """The exit status of the command."""
    observation: Observation
    readings: Sequence[str]
    """The readings of the default sandbox that are not the plain ones."""
    state_file: Path | None
    """Where the default sandbox is saved."""
    coverage: Mapping[str, Any] | None
    """The coverage document, if it is wanted."""
    least_coverage: float | None
    fails_by_conduct: bool
    """Whether a mistake of the client is a failure."""


def report_of(ended: Ended) -> Report:
    """Return the report of a command that has ended.

    It fails with the command, or where the options forbid what it did.
    """
    observation = ended.observation
    findings = list(_findings(ended))
    status = _status(ended, findings)
    is_wrong = bool(status or observation.conduct or findings)
    return Report(
        kind="exec",
        ok=status == 0,
        summary=_summary(ended),
        findings=[*observation.conduct, *findings],
        counts=to_builtins(observation.totals),
        checked=observation.checked,
        not_checked=observation.not_checked,
        tables=[
            ReportTable(
                title="",
                columns=(),
                rows=list(_rows(ended)),
            )
        ],
        next=ended.typed.next_commands(shows_more=is_wrong),
        details={"judged": _judged(observation), "data": _data(ended)},
        status=status,
    )


def _status(ended: Ended, findings: Sequence[ReportFinding]) -> int:
    """Return the exit status: that of the command, unless its success is forbidden."""
    if ended.status:
        return ended.status
    forbidden = list(findings)
    if ended.fails_by_conduct:
        forbidden += ended.observation.conduct
    return int(any(finding.severity == "error" for finding in forbidden))


def _judged(observation: Observation) -> dict[str, int]:
    return {"requests": observation.totals.requests, "left": observation.left}


def _summary(ended: Ended) -> str:
    observation = ended.observation
    totals = observation.totals
    parts = [
        judged_words(_judged(observation)),
        f"{count_of(totals.credits_charged, 'Credit')} charged",
        f"{totals.emulator_time_ms / 1000:g} s of emulator time",
    ]
    summary = f"the command ended with status {ended.status}; {', '.join(parts)}"
    if observation.checked:
        conduct = conduct_words(observation.conduct, observation.checked)
        summary += f"; conduct: {conduct}"
    return summary


# Findings -----------------------------------------------------------------------------


def _findings(ended: Ended) -> Iterator[ReportFinding]:
    """Iterate over what makes the run worth less than it seems.

    A command that a signal ended has left things undone for that reason.
    """
    observation = ended.observation
    if observation.was_interrupted:
        return
    if not observation.answers:
        yield ReportFinding(
            rule="no-request",
            severity=_severity(ended),
            where=None,
            message="the command sent no request to its emulator",
            remedy="let it call the address in IMAGE_WORKFLOW_BASE_URL",
        )
    run = observation.run
    if run.is_missed():
        yield _missed_scenario(run, _severity(ended))
    yield from _rules_never_fired(observation)
    yield from _missing_coverage(ended)


def _missed_scenario(run: RunScenario, severity: Severity) -> ReportFinding:
    subject = f"the scenario {run.name}"
    if run.has_rules:
        subject = f"the rules of {subject}"
    elsewhere = count_of(run.requests_elsewhere, "request")
    return ReportFinding(
        rule="scenario-missed",
        severity=severity,
        where=None,
        message=f"{subject} met no request; {elsewhere} went to sandboxes without it",
        remedy="let the creation of these sandboxes name no scenario, nor null",
    )


def _severity(ended: Ended) -> Severity:
    """Return the severity of a run that has shown nothing about the client."""
    if ended.fails_by_conduct:
        return "error"
    return "warning"


def _rules_never_fired(observation: Observation) -> Iterator[ReportFinding]:
    for (scenario, name), counts in observation.rules.items():
        if counts.fired:
            continue
        # It takes time to import.
        from image_workflow_emulator.testing.answers import Rule

        rule = Rule(
            name=name,
            matched=counts.matched,
            fired=0,
        )
        yield ReportFinding(
            rule="rule-never-fired",
            severity="warning",
            where=None,
            message=rule.never_fired(scenario),
        )


def _missing_coverage(ended: Ended) -> Iterator[ReportFinding]:
    coverage = ended.coverage
    least = ended.least_coverage
    if coverage is None or least is None or coverage["percent"] >= least:
        return
    yield ReportFinding(
        rule="coverage",
        severity="error",
        where=None,
        message=f"{coverage['percent']:g} % of the contract; wanted {least:g} %",
    )


# For people, and for programs ---------------------------------------------------------


def _rows(ended: Ended) -> Iterator[tuple[str, str]]:
    """Iterate over what people read of a run: names, and what is known of them."""
    observation = ended.observation
    answers = dict[str, list[str]]()
    for (operation, answer), counted in observation.answers.items():
        answers.setdefault(operation, []).append(f"{answer}: {counted.count}")
    for operation, texts in answers.items():
        yield operation, "  ".join(texts)
    if ended.readings:
        yield "readings", ", ".join(ended.readings)
    if observation.not_checked:
        rules = ", ".join(observation.not_checked)
        yield "not checked", f"{rules}: an auto clock takes every wait"
    if ended.coverage is not None:
        yield "coverage", coverage_words(ended.coverage)
    if ended.state_file is not None:
        yield "saved", _saved_words(ended.state_file, observation.others)


def _saved_words(file: Path, others: Mapping[str, int]) -> str:
    """Say which sandbox a file has, and which requests it has not."""
    words = f"the sandbox default, in {file}"
    if others:
        requests = count_of(sum(others.values()), "request")
        words += f"; not saved: {requests} to other sandboxes ({first_of(others)})"
    return words


def _data(ended: Ended) -> dict[str, Any]:
    """Return what programs look at."""
    observation = ended.observation
    refusals = [answer for answer in observation.answers.values() if answer.code]
    refusals.sort(key=lambda refusal: -refusal.count)
    severities = Counter(finding.severity for finding in observation.conduct)
    never_fired = [
        f"{scenario}: {name}"
        for (scenario, name), counts in observation.rules.items()
        if not counts.fired
    ]
    return {
        "exit": ended.status,
        "refusals": to_builtins(refusals),
        "conduct": severities,
        "coverage": _coverage_data(ended.coverage),
        "rules_never_fired": never_fired,
    }


def _coverage_data(coverage: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the percentage, and the gaps of the operations in use."""
    gaps_of_used = list[str]()
    if coverage is None:
        return {"percent": None, "unmet": gaps_of_used}
    from image_workflow_emulator.examiner.coverage import rows

    for name, covered, _points, gaps in rows(dict(coverage)):
        if covered:
            gaps_of_used += [f"{name} {gap}" for gap in gaps]
    return {"percent": coverage["percent"], "unmet": gaps_of_used}

"""The report of `exec`: the requests of the command and their outcome, its conduct, and what it covered.

Beside what every report has, its JSON has `data`, for programs that look at no more: `exit` (the status of the command),
`refusals` (each with `operation`, `code`, `count` and `remedy`), `conduct` (the number of findings by severity), `coverage`
(`percent`, and what is `unmet` of the operations in use), and `rules_never_fired`.
"""

import shlex
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from image_workflow_emulator.cli.observers import Observed
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID

if TYPE_CHECKING:
    from image_workflow_emulator.app import Application
    from image_workflow_emulator.examiner.coverage import Coverage

_MAX_COMMAND: Final = 200
"""A longer command stands as CMD in the commands to run next."""


def report_on(
    options: Namespace, seen: Observed, command_status: int, application: "Application", coverage: "Coverage | None"
) -> Report:
    """Return the report of a command that has ended. It fails with the command, or where the options forbid what it did."""
    is_judged = options.conduct != "off" and bool(seen.checked)
    conduct = list(_conduct_findings(seen)) if is_judged else []
    findings = list(_findings(options, seen, coverage))
    forbidden = [*conduct, *findings] if options.conduct == "fail" else findings
    status = command_status or int(any(finding.severity == "error" for finding in forbidden))
    charged, seconds = count_of(seen.credits_charged, "Credit"), seen.emulator_ms / 1000
    summary = f"{count_of(seen.requests_total, 'request')}, {charged} charged, {seconds:g} s of emulator time"
    if is_judged:
        from image_workflow_emulator.cli.judges import conduct_words

        summary += f"; conduct: {conduct_words([finding for _, finding in seen.findings], seen.checked)}"
    return Report(
        kind="exec",
        ok=status == 0,
        summary=f"Image Workflow Emulator: {summary}",
        findings=[*conduct, *findings],
        counts={
            "requests": seen.requests_total,
            "credits_charged": seen.credits_charged,
            "credits_reserved": seen.credits_reserved,
            "emulator_time_ms": seen.emulator_ms,
        },
        checked=seen.checked if is_judged else {},
        tables=[
            ReportTable(
                title="",
                columns=(),
                rows=list(_rows(seen, application, coverage, seen.not_checked if is_judged else ())),
            )
        ],
        next=[_next(options.words, status == 0 and not conduct and not findings)],
        details={"data": _data(command_status, seen, conduct, coverage)},
        status=status,
    )


def _conduct_findings(seen: Observed) -> Iterator[ReportFinding]:
    from image_workflow_emulator.cli.judges import conduct_finding

    for sandbox, finding in seen.findings:
        yield conduct_finding(finding, "" if sandbox == DEFAULT_SANDBOX_ID else f", in the sandbox {sandbox}")


def _findings(options: Namespace, seen: Observed, coverage: "Coverage | None") -> Iterator[ReportFinding]:
    """Iterate over what makes the run worth less than it seems."""
    if not seen.requests:
        yield ReportFinding(
            rule="no-request",
            severity="error" if options.conduct == "fail" else "warning",
            where=None,
            message="the command sent no request to its emulator",
            remedy="let it call the address in IMAGE_WORKFLOW_BASE_URL",
        )
    for (scenario, name), counts in seen.rules.items():
        if not counts.fired:
            from image_workflow_emulator.testing.sandbox import Rule  # which takes time to import

            message = Rule(name=name, matched=counts.matched, fired=0).never_fired(scenario)
            yield ReportFinding(rule="rule-never-fired", severity="warning", where=None, message=message)
    least = options.coverage_fail_under
    if coverage is not None and least is not None and coverage["percent"] < least:
        message = f"{coverage['percent']:g} % of the contract; wanted {least:g} %"
        yield ReportFinding(rule="coverage", severity="error", where=None, message=message)


def _rows(
    seen: Observed, application: "Application", coverage: "Coverage | None", not_checked: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Iterate over what people read of a run: names, and what is known of them."""
    order = (*application.contract.operations, *BYTE_SURFACES, None)
    for place in sorted(seen.requests, key=order.index):
        yield place or "(no operation)", "  ".join(_answers(seen.requests[place]))
    if readings := chosen(application.sandboxes.default.readings):
        yield "readings", ", ".join(readings)
    problems = Counter[str]()
    for (_, code), refusal in seen.refusals.items():
        problems[code] += refusal["count"]
    if problems:
        yield "problems", ", ".join(f"{code} {count}" for code, count in problems.most_common())
    if seen.dropped:
        yield "journal", f"{seen.dropped} of the requests are no longer in it, but counted here"
    if not_checked:
        yield "not checked", f"{', '.join(not_checked)}: an auto clock takes every wait"
    if coverage is not None:
        from image_workflow_emulator.cli.judges import coverage_words

        yield "coverage", coverage_words(coverage)


def _answers(by_status: Mapping[int, Counter[str]]) -> Iterator[str]:
    for status, numbers in sorted(by_status.items()):
        fates = ", ".join(f"{numbers[fate]} {fate}" for fate in ("replayed", "lost") if numbers[fate])
        yield f"{status or 'no answer'}: {numbers['all']}" + (f" ({fates})" if fates else "")


def _next(words: Sequence[str], is_clean: bool) -> str:
    """Return the command to run next: one that finds more, or one that shows what happened."""
    command = shlex.join(words)
    command = command if len(command) <= _MAX_COMMAND and command.isprintable() else "CMD"
    return f"image-workflow-emulator {'sweep' if is_clean else 'exec --journal journal.json'} -- {command}"


def _data(status: int, seen: Observed, conduct: Sequence[ReportFinding], coverage: "Coverage | None") -> dict[str, Any]:
    unmet: list[str] = []
    if coverage is not None:
        from image_workflow_emulator.examiner.coverage import rows

        unmet = [f"{name} {gap}" for name, met, _, gaps in rows(coverage) if met for gap in gaps]
    return {
        "exit": status,
        "refusals": sorted(seen.refusals.values(), key=lambda refusal: -refusal["count"]),
        "conduct": Counter(finding.severity for finding in conduct),
        "coverage": {"percent": coverage and coverage["percent"], "unmet": unmet},
        "rules_never_fired": [
            f"{scenario}: {name}" for (scenario, name), counts in seen.rules.items() if not counts.fired
        ],
    }

"""The report of `exec`: the requests of the command and their outcome, as text for people and as JSON for programs.

The JSON has these keys. New ones may be added; these keep their name and meaning as long as `version` is 1.

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
  `--conduct off`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from emulator import __version__
from emulator.examiner.examiner import Totals
from emulator.examiner.findings import request_numbers
from emulator.kernel.wording import count_of
from emulator.scenario.matching import BYTE_SURFACES
from emulator.scenario.playbook import RuleCounts
from emulator.service.record import RequestCount
from emulator.service.sandbox import DEFAULT_SANDBOX_ID
from emulator.service.tally import Tally, TeamTally
from emulator.testing.records import Rule

FORMAT = "image-workflow-emulator report"
VERSION = 1

NO_REQUEST = (
    "  warning: the command sent no request to its emulator: does it call the address in IMAGE_WORKFLOW_BASE_URL?"
)
_NO_OPERATION = "(no operation)"
_NO_ANSWER = "no answer"
_SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of the report. `operations` gives their order."""

    command: Sequence[str]
    exit_status: int
    duration_ms: int
    tally: Tally
    operations: Sequence[str]
    conduct: Totals | None = None
    readings: Sequence[str] = ()

    def as_json(self) -> str:
        """Return the report for programs; the head of this file says what is in it."""
        tally = self.tally
        content = {
            "format": FORMAT,
            "version": VERSION,
            "emulator": __version__,
            "command": list(self.command),
            "exit_status": self.exit_status,
            "duration_ms": self.duration_ms,
            "emulator_time_ms": tally.emulator_ms,
            "requests_total": tally.requests.total(),
            "requests": [
                {
                    "operation": place if place in self.operations else None,
                    "bytes": place if place in BYTE_SURFACES else None,
                    "status": status,
                    "count": counts.total(),
                    **_fates(counts),
                }
                for place, statuses in self._requests()
                for status, counts in statuses
            ],
            "journal_dropped": tally.dropped,
            "problems": dict(_problems(tally)),
            "credits_charged": _charged(tally),
            "credits_reserved": sum(team.reserved for team in tally.teams.values()),
            "highest_concurrency": _highest_concurrency(tally),
            "teams": [_team_fields(name, team) for name, team in tally.teams.items()],
            "rules": [
                {"scenario": scenario, "name": name, "matched": rule.matched, "fired": rule.fired}
                for (scenario, name), rule in tally.rules.items()
            ],
            "readings": list(self.readings),
            "conduct": self.conduct.as_json() if self.conduct else None,
        }
        return json.dumps(content, indent=2) + "\n"

    def as_text(self) -> str:
        """Return the report for people, as lines."""
        tally = self.tally
        head = (
            f"Image Workflow Emulator: {count_of(tally.requests.total(), 'request')}, "
            f"{count_of(_charged(tally), 'Credit')} charged, {_span(tally.emulator_ms)} of emulator time"
        )
        lines = [head, *self._request_lines()]
        if self.readings:
            lines.append(f"  readings: {', '.join(self.readings)}")
        if not tally.requests:
            lines.append(NO_REQUEST)
        problems = _problems(tally)
        if problems:
            lines.append(f"  problems: {', '.join(f'{code} {count}' for code, count in problems)}")
        lines += [f"  {_team_words(name, team)}" for name, team in tally.teams.items() if _did_anything(team)]
        if tally.dropped:
            lines.append(f"  {tally.dropped} of them are no longer in the journal, but counted here")
        lines += [_warning(*key, rule) for key, rule in tally.rules.items() if not rule.fired]
        if self.conduct is not None:
            lines += conduct_lines(self.conduct)
        return "\n".join(lines) + "\n"

    def _requests(self) -> Iterator[tuple[str, Iterable[tuple[int | None, Counter[RequestCount]]]]]:
        """Go through the operations and byte surfaces that were asked for, in their order, each with its statuses."""
        found: dict[str, dict[int | None, Counter[RequestCount]]] = {}
        for outcome, count in self.tally.requests.items():
            statuses = found.setdefault(outcome.operation or outcome.byte_surface or _NO_OPERATION, {})
            statuses.setdefault(outcome.status, Counter())[outcome] += count
        for place in (*self.operations, *BYTE_SURFACES, _NO_OPERATION):
            if place in found:
                yield place, sorted(found[place].items(), key=lambda row: row[0] or 0)

    def _request_lines(self) -> list[str]:
        rows = list(self._requests())
        width = max((len(place) for place, _ in rows), default=0)
        return [
            f"  {place:{width}}  " + "  ".join(_status_words(status, counts) for status, counts in statuses)
            for place, statuses in rows
        ]


def _fates(counts: Counter[RequestCount]) -> dict[str, int]:
    """Count the answers that were sent again, and those that were lost on the wire."""
    return {
        "replayed": sum(count for outcome, count in counts.items() if outcome.is_replayed),
        "lost": sum(count for outcome, count in counts.items() if outcome.is_lost),
    }


def _status_words(status: int | None, counts: Counter[RequestCount]) -> str:
    fates = ", ".join(f"{count} {fate}" for fate, count in _fates(counts).items() if count)
    return f"{status or _NO_ANSWER}: {counts.total()}" + (f" ({fates})" if fates else "")


def _problems(tally: Tally) -> list[tuple[str, int]]:
    """Return the problem codes that were answered, the most frequent first."""
    counts: Counter[str] = Counter()
    for outcome, count in tally.requests.items():
        if outcome.code is not None:
            counts[outcome.code] += count
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))


def _charged(tally: Tally) -> int:
    return sum(team.charged for team in tally.teams.values())


def _highest_concurrency(tally: Tally) -> int:
    return max((team.highest_concurrency for team in tally.teams.values()), default=0)


def _team_fields(name: str, team: TeamTally) -> dict[str, Any]:
    return {
        "name": name,
        "credits_charged": team.charged,
        "credits_reserved": team.reserved,
        "highest_concurrency": team.highest_concurrency,
        "concurrency_limit": team.concurrency_limit,
    }


def _did_anything(team: TeamTally) -> bool:
    return bool(team.charged or team.reserved or team.highest_concurrency)


def _team_words(name: str, team: TeamTally) -> str:
    reserved = f", {team.reserved} reserved for unfinished work" if team.reserved else ""
    return (
        f"{name}: {count_of(team.charged, 'Credit')} charged{reserved}; "
        f"highest concurrency {team.highest_concurrency} of {team.concurrency_limit}"
    )


def _warning(scenario: str, name: str, rule: RuleCounts) -> str:
    return f"  warning: {Rule(name=name, matched=rule.matched, fired=rule.fired).never_fired(scenario)}"


def conduct_lines(conduct: Totals) -> Iterator[str]:
    """List the findings, each with its sentence of the specification, and the remedy."""
    severities = Counter(finding.severity for _, finding in conduct.findings)
    if conduct.findings:
        yield f"  conduct: {', '.join(count_of(severities[word], word) for word in _SEVERITIES if severities[word])}"
    if conduct.off:
        yield f"  not checked on an auto clock: {', '.join(rule for rule in conduct.checked if rule in conduct.off)}"
    told: set[str] = set()
    for sandbox, finding in conduct.findings:
        user_agent = finding.client["user_agent"]
        where = f", by {user_agent}" if user_agent else ""
        where += "" if sandbox == DEFAULT_SANDBOX_ID else f", in the sandbox {sandbox}"
        yield f"  {finding.severity}: {finding.rule}: {finding.message} ({request_numbers(finding.requests)}{where})"
        yield from (f"    {line}" for line in (finding.source, f"remedy: {finding.remedy}") if line not in told)
        told |= {finding.source, f"remedy: {finding.remedy}"}


def _span(ms: int) -> str:
    """Write a span of time, such as `1.5 s`, `1 min 12 s` or `2 h 5 min`."""
    seconds = ms // 1000
    if seconds < 60:
        return f"{ms / 1000:g} s"
    minutes = seconds // 60
    return f"{minutes} min {seconds % 60} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

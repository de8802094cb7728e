"""The one object that `exec --format json` prints for programs, in at most 4,096 bytes."""

import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from emulator.cli.report import Report
from emulator.cli.verdict import finding, gaps_of, shortened, verdict
from emulator.examiner.findings import request_numbers
from emulator.kernel.wording import count_of
from emulator.service.record import RequestRecord
from emulator.service.sandbox import DEFAULT_SANDBOX_ID, Sandbox

_MAX_COMMAND: Final = 200
"""A longer command stands as CMD in the commands to run next."""


class Refusals:
    """The refused requests of all sandboxes, counted by operation and code, each with the remedy of the first."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._remedies: dict[tuple[str, str], str | None] = {}

    def note(self, _sandbox: Sandbox, record: RequestRecord) -> None:
        """Take a record of a sandbox's journal, once it is complete."""
        if record.is_complete and record.problem is not None:
            from emulator.control.explanations import remedy_of

            kind = (record.operation or record.byte_surface or record.path, record.problem.code)
            self._counts[kind] += 1
            self._remedies.setdefault(kind, remedy_of(record))

    def as_json(self) -> list[dict[str, Any]]:
        """Return them as JSON, the most frequent first."""
        return [
            {"operation": kind[0], "code": kind[1], "count": count, "remedy": self._remedies[kind]}
            for kind, count in self._counts.most_common()
        ]


def exec_verdict(
    report: Report, command_status: int, coverage: Mapping[str, Any], refusals: Refusals
) -> dict[str, Any]:
    """Return the object of a run; `command_status` is the command's own."""
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
    refused = refusals.as_json()
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

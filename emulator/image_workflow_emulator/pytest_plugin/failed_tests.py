"""The sections in the report of a test that failed: what its client sent and did wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

import pytest

from image_workflow_emulator.pytest_guard import failures_told_to
from image_workflow_emulator.pytest_plugin.fixtures import sandboxes_of
from image_workflow_emulator.pytest_plugin.options import NAME, conduct_of
from image_workflow_emulator.pytest_plugin.shared_journals import start_of_test

if TYPE_CHECKING:
    from image_workflow_emulator.testing import RecordedRequest, Sandbox

REQUESTS: Final = "image workflow requests"
CONDUCT: Final = "image workflow conduct"
MAX_REQUESTS: Final = 100
"""The number of requests in a section; the last ones are shown."""

Section: TypeAlias = tuple[str, str]
"""The title of a section of a report, and its text."""


def sections_of(item: pytest.Item) -> list[Section]:
    """Describe what a test did in its sandboxes, and what of that cannot be read.

    Nothing is said of a sandbox that the test has deleted.
    """
    sections: list[Section] = []
    for fixture, sandbox in sandboxes_of(item).items():
        if fixture == NAME:
            with _section(sections, REQUESTS, "journal") as lines:
                _describe_journal(lines, sandbox, 0)
            with _section(sections, CONDUCT, "conduct") as lines:
                if conduct_of(item) != "off":
                    _describe_conduct(lines, sandbox)
        else:
            with _section(sections, f"{REQUESTS} ({fixture})", "journal") as lines:
                _describe_journal(lines, sandbox, start_of_test(item, sandbox))
    return sections


@contextmanager
def _section(
    sections: list[Section],
    title: str,
    subject: str,
) -> Iterator[list[str]]:
    """Add the lines that the block writes as a section, unless it writes none.

    What goes wrong in the block is the last line.
    """
    from image_workflow_emulator.testing import EmulatorError

    lines: list[str] = []
    complaint = f"the {subject} cannot be read"
    with failures_told_to(lambda text: lines.append(f"{complaint}: {text}")):
        try:
            yield lines
        except EmulatorError as error:
            if error.code != "not_found":
                raise
    if lines:
        sections.append((title, "\n".join(lines)))


def _describe_journal(
    lines: list[str],
    sandbox: "Sandbox",
    start: int,
) -> None:
    """Describe the requests after a sequence number, and what else may be the reason."""
    requests = sandbox.requests(since=start, limit=MAX_REQUESTS + 1)
    if len(requests) > MAX_REQUESTS:
        lines.append("(earlier requests are not shown)")
    for request in requests[-MAX_REQUESTS:]:
        lines.append(str(request))
        if request.code is not None:
            _describe_refusal(lines, sandbox, request)
    if not requests:
        why = (
            "since its start, reset or load, no request came with a key of this sandbox"
        )
        lines.append(f"none: {why}, such as {sandbox.api_key}")
    readings = sandbox.readings
    if readings:
        lines.append(f"readings: {', '.join(readings)}")
    _describe_idle_rules(lines, sandbox)


def _describe_refusal(
    lines: list[str],
    sandbox: "Sandbox",
    request: "RecordedRequest",
) -> None:
    """Describe why a request was refused, and what would have helped."""
    explanation = sandbox.explain(request)
    reason = (explanation.decided_by or {}).get("detail") or explanation.summary
    lines.append(f"    {request.code}: {reason}")
    if explanation.remedy:
        lines.append(f"    remedy: {explanation.remedy}")


def _describe_idle_rules(lines: list[str], sandbox: "Sandbox") -> None:
    """Name the rules that never fired. Those of the library are for other clients too."""
    from image_workflow_emulator.scenario.named_files import is_in_library

    scenario = sandbox.scenario
    if scenario is None or is_in_library(scenario):
        return
    idle_rules = [rule for rule in sandbox.rules if not rule.fired]
    lines.extend(rule.never_fired(scenario) for rule in idle_rules)


def _describe_conduct(lines: list[str], sandbox: "Sandbox") -> None:
    """Describe what the client did wrong."""
    lines.extend(str(finding) for finding in sandbox.conduct().findings)

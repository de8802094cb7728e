"""How commands refuse: the objects for programs, and what a running emulator did not accept."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from msgspec import to_builtins

from image_workflow_emulator.report import ReportFinding, Severity
from image_workflow_emulator.settings import CommandError
from image_workflow_emulator.testing import errors

REFUSED_VALUES: Final = (400, 413, 422)
"""The statuses by which a running emulator refuses a value."""
_PLACE: Final = re.compile(r"\A(.+?:\d+(?::\d+)?): (.+)\Z", re.DOTALL)


def words_of(error: object) -> str:
    """Return the message of an error, without the status and code of a running emulator."""
    return error.detail if isinstance(error, errors.EmulatorError) else str(error)


def findings_of(rule: str, severity: Severity, *messages: str) -> list[ReportFinding]:
    """Return each line of some messages as a finding: the place that it begins with, and what it says."""
    found = []
    for line in "\n".join(messages).splitlines():
        place = _PLACE.match(line)
        where, message = place.groups() if place else (None, line)
        found.append(ReportFinding(rule=rule, severity=severity, where=where, message=message))
    return found


def refusal(error: object) -> dict[str, Any]:
    """Return, as JSON for programs, why a command did nothing."""
    found = findings_of(getattr(error, "code", None) or "usage", "error", words_of(error))
    return {"ok": False, "summary": words_of(error), "findings": to_builtins(found), "next": []}


@contextmanager
def naming_scenario(scenario: str | None) -> Iterator[None]:
    """Report a name that the library of the running emulator does not have. Raises CommandError."""
    try:
        yield
    except errors.EmulatorError as error:
        from image_workflow_emulator.scenario.named_files import scenario_file

        if error.code == "invalid_scenario" and scenario is not None and scenario_file(scenario) is None:
            raise CommandError(error.detail) from None
        raise

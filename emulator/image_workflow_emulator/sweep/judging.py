"""The outcome of a trial, from what happened in its place."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Final
from urllib.parse import parse_qsl

from msgspec import Struct

from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.clean_run import is_comparable
from image_workflow_emulator.sweep.comparison import (
    failed_in_vain,
    made_less,
    made_twice,
    outputs_not_taken,
    unrepeated,
)
from image_workflow_emulator.sweep.evidence import WHOLE, Place
from image_workflow_emulator.sweep.faults import OUTPUTS, is_of_one_output
from image_workflow_emulator.sweep.journals import (
    Call,
    Entry,
    Journal,
    Work,
    calls_of,
    works_of,
)
from image_workflow_emulator.sweep.runs import Outcome, Run

_OWN_SCENARIO: Final = (
    "the command's requests went to sandboxes with scenarios of their own"
)
_NO_CALL: Final = "the command did not make the call this time"
_REFUSED: Final = "the service itself refused the call"
_NOTHING_TO_BREAK: Final = "no request had what the fault breaks"


class Judge(Struct, frozen=True):
    """Judges trials by what happened in the same places without a fault."""

    clean_places: dict[str, Place]
    ignored_rules: Collection[str]
    """Rules of conduct that are left out."""

    def judge(
        self,
        trial: Cell,
        place: Place,
        status: int | None,
        seconds: float,
    ) -> Run:
        """Judge a trial. `status` is None if it did not end in time."""
        struck = _happened(trial, place)
        findings = list(self._findings(trial, place, status)) if struck else []
        outcome = _outcome_of(trial, status, findings)
        why = ""
        if not struck:
            why = _why_not(trial, place)
            if status is not None:
                # What fails without its fault is flaky.
                outcome = "failed" if status else "not-struck"
        elif outcome == "survived":
            why = self._why_without_success(trial, place)
            if why:
                outcome = "failed"
        return Run(
            cell=str(trial),
            test=trial.test,
            outcome=outcome,
            status=status,
            seconds=round(seconds, 3),
            findings=findings,
            struck=struck,
            is_flaky=outcome == "failed" and not struck,
            why=why,
            broken=_broken(trial, place),
        )

    def _why_without_success(self, trial: Cell, place: Place) -> str:
        """Return why a command that ended with 0, or a test that passed, did not do
        what it should; empty if it did.
        """
        clean = self.clean_places[trial.test].journals
        success = "the test passed"
        if trial.test == WHOLE:
            success = "the command ended with 0"
            for entry in unrepeated(clean, place.journals, str(trial)):
                return f"{success}, and {entry.name} never came again"
        if trial.group == OUTPUTS and not is_of_one_output(trial.fault):
            for entry in failed_in_vain(clean, place.journals, str(trial)):
                return f"{success}, though the work of {entry.name} failed"
        return ""

    def _findings(
        self,
        trial: Cell,
        place: Place,
        status: int | None,
    ) -> Iterator[ReportFinding]:
        """Iterate over what was done wrong in a place."""
        misconduct = list(self._misconduct(trial, place))
        yield from misconduct
        if not any(finding.severity == "error" for finding in misconduct):
            yield from self._damage(trial, place, status)
        if is_of_one_output(trial.fault) and not _fails_by_assertion(place):
            clean = self.clean_places[trial.test].journals
            yield from outputs_not_taken(clean, place.journals)

    def _misconduct(self, trial: Cell, place: Place) -> Iterator[ReportFinding]:
        """Iterate over the rules of conduct that were broken by the fault: what the
        client also does without it is no matter of its cell.
        """
        clean_place = self.clean_places[trial.test]
        usual_rules = {finding.rule for finding in clean_place.findings}
        left_out = usual_rules.union(self.ignored_rules)
        for finding in place.findings:
            if finding.rule not in left_out:
                yield finding

    def _damage(
        self,
        trial: Cell,
        place: Place,
        status: int | None,
    ) -> Iterator[ReportFinding]:
        """Iterate over what was made twice or not at all, beside the clean run."""
        clean_place = self.clean_places[trial.test]
        clean = clean_place.journals
        if trial.keeps_what_was_made:
            yield from made_twice(clean, place.journals)
        is_recovered = trial.is_recoverable and status == 0
        if is_recovered and is_comparable(clean_place):
            yield from made_less(clean, place.journals, str(trial))


def _outcome_of(
    trial: Cell,
    status: int | None,
    findings: Collection[ReportFinding],
) -> Outcome:
    """Return the outcome of a trial whose fault happened."""
    has_errors = any(finding.severity == "error" for finding in findings)
    if trial.is_of_client:
        is_noticed = status != 0 or has_errors
        return "noticed" if is_noticed else "unnoticed"
    if status is None:
        return "hung"
    if has_errors:
        return "damaged"
    if status:
        return "failed"
    return "survived"


def _happened(trial: Cell, place: Place) -> bool:
    """Tell whether a fault happened. Without a journal, it is taken to have."""
    if not place.is_recorded:
        return True
    return any(entry.rule_name == str(trial) for entry in place.entries)


def _why_not(trial: Cell, place: Place) -> str:
    """Return why a fault did not happen."""
    if trial.is_of_client:
        return _NOTHING_TO_BREAK
    for journal in place.journals:
        entry = _call_of(trial, journal)
        if entry is None:
            continue
        if entry.code is not None:
            return _REFUSED
        return _OWN_SCENARIO
    return _NO_CALL


def _call_of(trial: Cell, journal: Journal) -> Entry | None:
    """Return the request that a cell is about; None if it was not sent."""
    calls: Iterable[Call | Work] = calls_of(journal)
    if trial.group == OUTPUTS:
        calls = works_of(journal)
    for call in calls:
        if call.operation == trial.operation and call.number == trial.number:
            return call.entry
    return None


def _broken(trial: Cell, place: Place) -> dict[str, list[str]]:
    """Return the operations whose requests were broken, and what they lost."""
    if not trial.is_of_client:
        return {}
    parameters: defaultdict[str, set[str]] = defaultdict(set)
    for entry in place.entries:
        if entry.rule_name == str(trial):
            lost = parameters[entry.name]
            if trial.fault == "drop-query":
                lost.update(name for name, _ in parse_qsl(entry.query, True))
    return {name: sorted(lost) for name, lost in parameters.items()}


def _fails_by_assertion(place: Place) -> bool:
    """Tell whether a test failed by an assertion of its own, which may rightly want all
    outputs.
    """
    return any(ended.error == "AssertionError" for ended in place.tests.values())

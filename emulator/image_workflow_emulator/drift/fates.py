"""When the calls of a recording are sent again, and how their work is made to end: as the
recording shows that it ended.

What the service's world did (a failed slot, how long work took) becomes a scenario, so that
only meanings are left to differ.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from image_workflow_emulator.domain.resources import OPERATION_TYPES, WORKFLOWS
from image_workflow_emulator.drift.traffic import RecordedCall, RecordedWork, Traffic
from image_workflow_emulator.kernel.timestamps import DAY_MS, SECOND_MS
from image_workflow_emulator.scenario.outcomes import FAILURE_CODES

QUEUE_MS: Final = 1
"""How long work is queued in a replay."""
_STEP_MS: Final = 3
"""The least time between two calls: work can be queued, run and end within it."""
_KNOWN_WORK: Final = (*WORKFLOWS, *OPERATION_TYPES)
_MAX_DURATION_MS: Final = 30 * DAY_MS


class Fates:
    """The scenarios for the calls of a recording that admit work.

    `schedule` has the instant at which each call is sent again.
    """

    def __init__(self, traffic: Traffic, schedule: Sequence[int]) -> None:
        self._schedule = schedule
        self._changes = _changes(traffic)
        self._admitted: dict[int, RecordedWork] = {}
        for call, work in traffic.admissions():
            if work.kind in _KNOWN_WORK:
                self._admitted[call.number] = work

    def scenario_for(self, call: RecordedCall) -> dict[str, Any] | None:
        """Return the scenario by which the work of a call ends as it was seen to end.

        None if the call admits none.
        """
        work = self._admitted.get(call.number)
        if work is None:
            return None
        rule = {
            "match": {"work": work.kind},
            "then": self._end_of(call, work),
        }
        return {
            "scenario": "recorded",
            "rules": [rule],
        }

    def _end_of(self, call: RecordedCall, work: RecordedWork) -> dict[str, Any]:
        """Let work end just before the call that shows its end, or never."""
        ended_by = work.finished_by or self._unblocked_call(work)
        if ended_by is None:
            return {"stall": True}
        begins = self._schedule[call.number] + QUEUE_MS
        ends = self._schedule[ended_by.number] - 1
        duration_ms = min(max(1, ends - begins), _MAX_DURATION_MS)
        seconds = duration_ms / SECOND_MS
        return {
            "duration": f"{seconds:.3f}s",
            **_failures(work),
        }

    def _unblocked_call(self, work: RecordedWork) -> RecordedCall | None:
        """Return the first change of an ingredient that unfinished work on it would have
        blocked: the work had ended, though no answer shows that.
        """
        admission = work.admission
        if admission is None or not admission.parameters:
            return None
        changes = self._changes.get(_subject(admission), ())
        for change in changes:
            is_later = change.number > admission.number
            is_replay = change.key is not None and change.key == admission.key
            if is_later and not is_replay:
                return change
        return None


def _changes(traffic: Traffic) -> dict[tuple[str, ...], list[RecordedCall]]:
    """Return the successful changes of each resource, in order."""
    changes: dict[tuple[str, ...], list[RecordedCall]] = {}
    for call in traffic.calls:
        if call.is_success and call.method in ("PATCH", "DELETE"):
            of_subject = changes.setdefault(_subject(call), [])
            of_subject.append(call)
    return changes


def _subject(call: RecordedCall) -> tuple[str, ...]:
    """Return the ids in the path of a call."""
    return tuple(call.parameters.values())


def schedule_of(calls: Sequence[RecordedCall]) -> list[int]:
    """Return the instant at which each call is sent again.

    It is the recorded one, but never that of the call before: a recording may have whole
    seconds only, or no times, and work that ended between two calls ends between them.
    """
    instants: list[int] = []
    earliest = DAY_MS
    for call in calls:
        instant = max(call.at, earliest)
        instants.append(instant)
        earliest = instant + _STEP_MS
    return instants


def _failures(work: RecordedWork) -> dict[str, Any]:
    """Return the part of a scenario's rule that says what of the work fails."""
    outputs = work.last.outputs
    if work.last.status == "failed":
        first_failed = work.last.resource
        if outputs:
            first_failed = outputs[0]
        return {"fail": _failure_code(first_failed)}
    failure_codes = {}
    for slot, output in enumerate(outputs, start=1):
        if output.get("status") == "failed":
            failure_codes[str(slot)] = _failure_code(output)
    if not failure_codes:
        return {}
    return {"outputs": failure_codes}


def _failure_code(holder: Mapping[str, Any]) -> str:
    """Return the code of an error that a scenario can ask for."""
    error = holder.get("error") or {}
    code = error.get("code")
    if code not in FAILURE_CODES:
        return "processing_failed"
    return str(code)

"""The command `conduct FILE`: the examiner judges the clients of recordings.

Owns which rules a recording cannot show, and why. Has no rule of its own.
"""

from collections import Counter
from collections.abc import Sequence

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.drift.recognition import recognize
from image_workflow_emulator.drift.recorded_outcomes import RecordedOutcomes
from image_workflow_emulator.drift.recorded_requests import RecordedRequests
from image_workflow_emulator.drift.recordings import check_calls, read_recordings
from image_workflow_emulator.drift.traffic import Traffic
from image_workflow_emulator.examiner.conduct import judge
from image_workflow_emulator.examiner.findings import SEVERITIES
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable


def judge_conduct(files: Sequence[str]) -> Report:
    """Judge what the clients that were recorded in some files do wrong.

    Raises:
        UsageError: a file holds no recording, or no call of the service.
        UnusableFileError: a file cannot be read.
    """
    recognized = recognize(read_recordings(files), load_contract())
    report = judge_client(recognized.traffics)
    check_calls(report.counts["requests"], files)
    return report


def judge_client(traffics: Sequence[Traffic]) -> Report:
    """Judge the clients that were recorded, each recording by itself."""
    judgement = _ClientJudgement()
    for traffic in traffics:
        judgement.judge(traffic)
    return judgement.report()


class _ClientJudgement:
    """What the clients of some recordings did wrong."""

    def __init__(self) -> None:
        self._findings: list[ReportFinding] = []
        self._checked = Counter[str]()
        """By rule: how often it could have been broken."""
        self._reasons: dict[str, str] = {}
        """By rule: why a recording could not show whether it was broken."""
        self._places: dict[int, str] = {}
        """The places of all requests, by their numbers."""

    def judge(self, traffic: Traffic) -> None:
        """Judge the client of one recording."""
        last_number = max(self._places, default=0)
        records = RecordedRequests(traffic, last_number).records
        for record, call in zip(records, traffic.calls, strict=True):
            self._places[record.sequence] = call.where
        admitted = {record.work_id for record in records}
        conduct = judge(
            records,
            RecordedOutcomes(traffic, admitted),
            max(record.left_at for record in records),
            has_ended=True,
        )
        for finding in conduct.findings:
            places = [self._places[number] for number in finding.requests]
            where = first_of(places, separator="; ")
            self._findings.append(finding.reported(where))
        self._checked.update(conduct.checked)
        self._reasons |= _reasons(traffic, conduct.not_checked)

    def report(self) -> Report:
        """Return the report."""
        findings = sorted(self._findings, key=_rank)
        has_errors = any(finding.severity == "error" for finding in findings)
        calls = count_of(len(self._places), "call")
        checked = {
            rule: occasions
            for rule, occasions in self._checked.items()
            if rule not in self._reasons
        }
        return Report(
            kind="conduct",
            ok=not has_errors,
            summary=f"{calls}, {count_of(len(findings), 'finding')}",
            findings=findings,
            counts={"requests": len(self._places)},
            checked=checked,
            tables=self._tables(),
            details={"not_checked": self._reasons},
            status=int(has_errors),
        )

    def _tables(self) -> list[ReportTable]:
        """Return the table of the rules that were not checked, if there are any."""
        if not self._reasons:
            return []
        not_checked = ReportTable(
            title="Not checked",
            columns=["rule", "reason"],
            rows=list(self._reasons.items()),
        )
        return [not_checked]


def _rank(finding: ReportFinding) -> int:
    """Return the place of a finding by its severity, the worst first."""
    return SEVERITIES.index(finding.severity)


def _reasons(traffic: Traffic, not_timed: Sequence[str]) -> dict[str, str]:
    """Return the rules that a recording cannot show, and why.

    `not_timed`: the rules that need times, if there are none.
    """
    is_journal = any(call.entry for call in traffic.calls)
    subject = "the recording"
    if is_journal:
        subject = "an auto clock"
    reasons = dict.fromkeys(not_timed, f"{subject} has no times")
    has_authorization = any(
        call.operation and "authorization" in call.request_headers
        for call in traffic.calls
    )
    # A journal shows it of operations alone.
    if is_journal or not has_authorization:
        reason = "the recording has no Authorization headers"
        reasons["credential-sent-to-bytes"] = reason
    return reasons

"""What closes a gap of the coverage: a scenario of the library, the rule to write, a special request, or the call itself."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from emulator.contract import Contract
from emulator.domain.problems import CATALOGUE, WRITE_CHECKS
from emulator.examiner.points import BYTES, LOST, LOST_AFTER, LOST_BEFORE, REPLAY, work_of
from emulator.scenario.changes import AdmissionChange, CredentialChange
from emulator.scenario.faults.loss import LossFault
from emulator.scenario.faults.problem import ProblemFault
from emulator.scenario.matching import EVERY
from emulator.scenario.rules import RequestRule, WorkRule
from emulator.scenario.scenario import Scenario
from emulator.scenario.world import TeamChange

CALL: Final[Mapping[str, Any]] = {"call": True}
_MOMENTS: Final = {LOST: "before_commit", LOST_BEFORE: "before_commit", LOST_AFTER: "after_commit"}
_REQUESTS: Final = {
    ("upload", "400 invalid_request"): "send more or fewer bytes than size_bytes",
    ("upload", "404 upload_not_found"): "send the bytes to upload.url with another last character",
    ("upload", "409 upload_bytes_conflict"): "send other bytes to an upload.url that has accepted some",
    ("upload", "410 upload_expired"): "send the bytes after upload.expires_at",
    ("download", "206"): "ask for a part of the file, with the header Range",
    ("download", "304"): "ask again with the header If-None-Match and the ETag of the first answer",
    ("download", "404 not_found"): "fetch the file of an Asset that was deleted",
    ("download", "416 invalid_request"): "ask for a part beyond the end of the file, with the header Range",
}
"""By byte surface and point: the request that no rule makes of a plain one."""


class Closing:
    """The library of scenarios, by the points that each closes."""

    def __init__(self, contract: Contract, library: Iterable[Scenario]) -> None:
        self._contract = contract
        self._by_point: dict[tuple[str, str], str] = {}
        for scenario in sorted(library, key=_size):  # prefer the scenario that does little else
            for name, point in self._closed_by(scenario):
                self._by_point.setdefault((name, point), scenario.name)

    def of(self, name: str, point: str) -> Mapping[str, Any]:
        """Return what closes the gap at a point of an operation or byte surface."""
        scenario = self._by_point.get((name, point))
        if scenario is not None:
            return {"scenario": scenario}
        if (name, point) in _REQUESTS:
            return {"request": _REQUESTS[name, point]}
        rule = _rule(name, point)
        return CALL if rule is None else {"rule": rule}

    # What a scenario does -------------------------------------------------------------------------------------------

    def _closed_by(self, scenario: Scenario) -> Iterable[tuple[str, str]]:
        for rule in scenario.rules:
            if isinstance(rule, RequestRule) and not _is_chance(rule):
                yield from self._closed_by_request_rule(rule)
            elif isinstance(rule, WorkRule):
                yield from self._closed_by_work_rule(rule)
        for timed in scenario.timeline:
            for code in _codes_of_change(timed.change):
                yield from self._everywhere(code)
        for team in scenario.world.teams:
            for code in _codes_of_change(team):
                yield from self._everywhere(code)

    def _closed_by_request_rule(self, rule: RequestRule) -> Iterable[tuple[str, str]]:
        names: Iterable[str] = self._contract.operations
        if rule.match.bytes:
            names = [name for name in BYTES if name in rule.match.bytes or EVERY in rule.match.bytes]
        elif EVERY not in rule.match.operations:
            names = rule.match.operations
        for name in names:
            if isinstance(rule.fault, ProblemFault):
                yield name, f"{CATALOGUE[rule.fault.code].status} {rule.fault.code}"
            elif isinstance(rule.fault, LossFault):
                yield name, LOST
                yield name, LOST_AFTER if rule.fault.at == "after_commit" else LOST_BEFORE

    def _closed_by_work_rule(self, rule: WorkRule) -> Iterable[tuple[str, str]]:
        for name in self._contract.operations:
            work = work_of(name)
            if work is None or not {work, EVERY} & rule.match.works:
                continue
            for code in filter(None, (rule.outcome.fail, *rule.outcome.outputs.values())):
                yield name, f"output failed with {code}"
                yield name, f"work failed with {code}"
            if rule.outcome.fail is not None:
                yield name, "work failed"

    def _everywhere(self, code: str) -> Iterable[tuple[str, str]]:
        for name, operation in self._contract.operations.items():
            is_of_writes = CATALOGUE[code].check in WRITE_CHECKS
            if code in operation.all_codes and not (is_of_writes and operation.method == "GET"):
                yield name, f"{CATALOGUE[code].status} {code}"


def _size(scenario: Scenario) -> int:
    """Return how many things a scenario does."""
    return len(scenario.rules) + len(scenario.timeline) + len(scenario.world.teams)


def _is_chance(rule: RequestRule) -> bool:
    """Whether chance, or other requests, decide which request the rule acts on."""
    return rule.when.probability < 1 or (EVERY in rule.match.operations and rule.when.nth.step > 1)


def _codes_of_change(change: object) -> Iterable[str]:
    """Return the codes that requests are answered with after a change of state."""
    match change:
        case AdmissionChange("paused"):
            yield "service_unavailable"
        case CredentialChange():
            yield from ["credential_revoked"] * (change.values.get("state") == "revoked")
            yield from ["credential_expired"] * ("expires_at" in change.values)
            yield from ["permission_denied"] * (change.values.get("profile") == "read_only")
        case TeamChange():
            yield from ["subscription_required"] * (change.values.get("subscription_active") is False)
            yield from ["insufficient_credits"] * ("credits" in change.values)
            yield from ["concurrency_limit_reached"] * ("concurrency_limit" in change.values)
            yield from ["rate_limited"] * ("requests_per_minute" in change.values)


def _rule(name: str, point: str) -> Mapping[str, Any] | None:
    """Return the rule that covers a point; None where only the call itself does."""
    work = work_of(name)
    match: dict[str, Any] = {"bytes": name} if name in BYTES else {"operation": name}
    if point in _MOMENTS:
        return {"match": match, "when": {"nth": 1}, "then": {"network": "reset", "at": _MOMENTS[point]}}
    if point == REPLAY:
        return {"match": match, "when": {"nth": 1}, "then": {"network": "reset", "at": "after_commit"}}
    what, _, code = point.partition(" failed with ")
    if code and work:
        return {"match": {"work": work}, "then": {"outputs": {"1": code}} if what == "output" else {"fail": code}}
    if point == "work failed":
        return {"match": {"work": work}, "then": {"fail": "processing_failed"}}
    code = point.partition(" ")[2]
    if code not in CATALOGUE:
        return None
    return {"match": match, "when": {"nth": 1}, "then": {"problem": code}}

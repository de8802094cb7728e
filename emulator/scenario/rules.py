"""Rules: what they match, when they are due, what happens then. Data only; the counters live in the playbook."""

from typing import TypeAlias

from msgspec import Struct

from emulator.scenario.faults.base import Fault
from emulator.scenario.matching import ALL_WORK, ALWAYS, EVERY_REQUEST, RequestMatch, When, WorkMatch
from emulator.scenario.outcomes import WorkOutcome


class RequestRule(Struct, frozen=True):
    """A rule about requests. `file` and `line` are its position, and `then` is what it asks for as JSON, for explanations."""

    name: str
    fault: Fault
    match: RequestMatch = EVERY_REQUEST
    when: When = ALWAYS
    file: str = ""
    line: int = 0
    then: str = ""


class WorkRule(Struct, frozen=True):
    """A rule about Operations and Generations, decided when they are admitted."""

    name: str
    outcome: WorkOutcome
    match: WorkMatch = ALL_WORK
    when: When = ALWAYS
    file: str = ""
    line: int = 0
    then: str = ""


Rule: TypeAlias = RequestRule | WorkRule

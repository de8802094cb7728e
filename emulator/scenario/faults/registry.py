"""The faults by their word in a scenario file, and how `then` of a rule that matches requests is read."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from emulator.documents.complaints import one_of
from emulator.domain.problems import excerpt
from emulator.scenario.faults.base import NO_FAULT, Fault
from emulator.scenario.faults.deprecated import DeprecatedFault
from emulator.scenario.faults.hold import HoldFault
from emulator.scenario.faults.network import read_network
from emulator.scenario.faults.problem import ProblemFault
from emulator.scenario.faults.spelling import DETAILS, Then
from emulator.scenario.matching import RequestMatch
from emulator.scenario.outcomes import OUTCOME_WORDS
from emulator.scenario.reading import Cursor
from emulator.scenario.vocabulary import Vocabulary

FAULTS: Final[Mapping[str, Callable[[Then], Fault | None]]] = MappingProxyType(
    {
        "problem": ProblemFault.read,
        "hold": HoldFault.read,
        "network": read_network,
        "deprecated": DeprecatedFault.read,
    }
)
"""By the word that stands for a fault under `then`: how it is read."""
REQUEST_WORDS: Final = (*FAULTS, *DETAILS)
THEN_WORDS: Final = (*REQUEST_WORDS, *OUTCOME_WORDS)


def read_fault(cursor: Cursor, match: RequestMatch, vocabulary: Vocabulary) -> Fault:
    """Read what happens to a request; NO_FAULT where something was wrong with it."""
    fields = cursor.fields(THEN_WORDS)
    fields.refuse(OUTCOME_WORDS, f"{one_of(REQUEST_WORDS)}, as this rule matches requests, not work")
    words = [word for word in fields if word in FAULTS]
    if not words:
        if fields.is_sound and not any(word in fields for word in OUTCOME_WORDS):
            cursor.complain(one_of(FAULTS), found="no fault")
        return NO_FAULT
    fields.refuse(words[1:], f"one fault in a rule, and {excerpt(words[0])} stands there already")
    return FAULTS[words[0]](Then(fields, match, vocabulary)) or NO_FAULT

"""What the spellings of all faults share: the words beside a fault under `then`, and what a reader is given."""

from dataclasses import dataclass
from typing import Final, cast

from emulator.scenario.faults.base import MOMENTS, Moment
from emulator.scenario.matching import RequestMatch
from emulator.scenario.reading import Fields
from emulator.scenario.vocabulary import Vocabulary

DETAILS: Final = ("retry_after", "detail", "at")
"""The words that go with some faults, and name none themselves."""


@dataclass(frozen=True, slots=True)
class Then:
    """What the reader of a fault needs: all of `then`, what the rule matches, and the words there are."""

    fields: Fields
    match: RequestMatch
    vocabulary: Vocabulary


def read_moment(fields: Fields) -> Moment:
    """Read `at`; before the commit if it is not given."""
    return cast(Moment, fields.get("at", lambda cursor: cursor.word(MOMENTS), "before_commit"))

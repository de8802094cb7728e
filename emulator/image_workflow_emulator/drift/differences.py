"""What a difference between a recorded answer and the expected one is, and which
differences are of one kind.
"""

import re
from collections.abc import Hashable, Iterable
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from image_workflow_emulator.drift.traffic import RecordedCall
from image_workflow_emulator.kernel.wording import count_of

About: TypeAlias = Literal["value", "price", "milliseconds"]
NOTHING: Final = "nothing"
"""What is recorded, in words, where a member is absent."""
_INDEX: Final = re.compile(r"/\d+(?=/|$)")


class Difference(Struct, frozen=True, omit_defaults=True):
    """One thing in which a recorded answer is not as expected."""

    exchange: str
    operation: str
    where: str
    """The place in the answer: a JSON Pointer, the name of a header, or `status`."""
    recorded: str
    expected: str
    sentence: str = ""
    """The sentence of the specification that it contradicts, if it is a breach."""
    about: About = "value"
    times: int = 1
    """How often there is one of this kind; `exchange` has the first."""
    is_varied: bool = False
    """Whether those of this kind have other values than the first."""

    @property
    def verdict(self) -> Literal["breach", "bug", "neither"]:
        """`breach` contradicts a sentence of the specification, `bug` is a defect of the
        emulator. `neither`: no reading explains it, and no sentence forbids it.
        """
        if self.sentence:
            return "breach"
        if self.where == "status" and self.expected.startswith("500"):
            return "bug"
        return "neither"

    @property
    def message(self) -> str:
        """What is different, and how often."""
        if self.about == "milliseconds":
            return f"{count_of(self.times, 'time')} without milliseconds"
        text = f"recorded {self.recorded}, expected {self.expected}"
        if self.about == "price":
            text = f"{self.recorded}, {self.expected}"
        if self.is_varied:
            return f"{text}, the first of {self.times} times"
        if self.times > 1:
            return f"{text}, {self.times} times"
        return text

    @property
    def kind(self) -> Hashable:
        """What differences that are reported as one have in common.

        A breach is one whichever operation it is in.
        """
        if self.about == "price":
            return self.about, self.recorded, self.expected
        if self.about == "milliseconds":
            return self.about
        place = _INDEX.sub("/*", self.where).removeprefix("/data/*")
        subject = self.sentence or self.operation
        if place in ("status", "/code"):
            return subject, place, self.recorded, self.expected
        return subject, place, self.recorded == NOTHING


def difference(
    call: RecordedCall,
    where: str,
    recorded: str,
    expected: str,
    sentence: str = "",
    about: About = "value",
) -> Difference:
    """Return a difference in the answer to a call."""
    return Difference(
        exchange=call.where,
        operation=call.name,
        where=where,
        recorded=recorded,
        expected=expected,
        sentence=sentence,
        about=about,
    )


def folded(differences: Iterable[Difference]) -> list[Difference]:
    """Return one difference of each kind, the first, with the number of all."""
    first_of_kind: dict[Hashable, Difference] = {}
    for current in differences:
        first = first_of_kind.get(current.kind)
        if first is None:
            first_of_kind[current.kind] = current
            continue
        is_recorded_varied = current.recorded != first.recorded
        is_expected_varied = current.expected != first.expected
        first_of_kind[current.kind] = replace(
            first,
            times=first.times + current.times,
            is_varied=first.is_varied or is_recorded_varied or is_expected_varied,
        )
    return list(first_of_kind.values())

"""`unfetched-pictures`: a client that fetches pictures leaves finished ones behind, which are paid for.

Theory of operation. A picture is fetched if any request is about it: for its file or its Asset, or one that uses it for
other work. Where no picture of any Generation is fetched, another system may do it, so nothing is said. Pictures whose
end nobody saw are `abandoned-work`; a client that was shut out or ended with a failure is excused.
"""

import re
from collections.abc import Iterator, Set
from typing import Final

from emulator.domain.resources import Generation
from emulator.examiner.history import History
from emulator.examiner.reading import is_answered, work_id_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict

_TEXT: Final = re.compile(rb'"([\w-]+)"')


def _examine(history: History) -> Iterator[Verdict]:
    named = _named(history)
    found: list[Verdict] = []
    for admitted in history.with_key:
        work = history.work(work_id_of(admitted)) if is_answered(admitted, 202) else None
        if not isinstance(work, Generation) or work.finished_at is None or work.id not in history.seen_to_end:
            continue
        made = [output.asset_id for output in work.outputs if output.asset_id is not None]
        left = [picture for picture in made if picture not in named]
        is_excused = history.was_shut_out(admitted) or history.ended_in_failure(admitted)
        if len(left) < len(made):
            found.append(KEPT)
        if left and history.is_over(work.finished_at) and not is_excused:
            message = f"{len(left)} of {len(made)} finished pictures of {work.id} were never fetched"
            found.append(Breach((admitted.sequence,), message))
    if KEPT in found:
        yield from found


def _named(history: History) -> Set[str]:
    """Return what addresses end with, the ids of Assets among it, and all texts that writes ask for."""
    names = (record.path.rpartition("/")[2] for record in history.records)
    bodies = (record.request_body for record in history.with_key if record.request_body)
    used = {text.decode() for body in bodies for text in _TEXT.findall(body)}
    return used.union(*((name, name.rpartition("-")[0]) for name in names))


RULE: Final = ConductRule(
    name="unfetched-pictures",
    severity="note",
    source="Section 4: Only completed outputs are charged.",
    remedy="go through all outputs of a Generation, and fetch each that is completed",
    examine=_examine,
)

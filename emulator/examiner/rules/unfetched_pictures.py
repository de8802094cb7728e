"""`unfetched-pictures`: a client that fetches pictures leaves finished ones behind, which are paid for.

Theory of operation. A picture is fetched if any request is about it: for its file or its Asset, or one that uses it for
other work. Where no picture of any Generation is fetched, another system may do it, so nothing is said. Pictures whose
end nobody saw are `abandoned-work`; a client that was shut out or ended with a failure is excused.
"""

from collections.abc import Iterator, Set
from typing import Final

from emulator.domain.resources import Generation
from emulator.examiner.history import History
from emulator.examiner.reading import is_answered, work_id_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict


def _examine(history: History) -> Iterator[Verdict]:
    named = _named(history)
    found: list[Verdict] = []
    for admitted in history.with_key:
        work = history.work(work_id_of(admitted)) if is_answered(admitted, 202) else None
        if not isinstance(work, Generation) or work.finished_at is None or work.id not in history.seen_to_end:
            continue
        made = [output.asset_id for output in work.outputs if output.asset_id is not None]
        left = [picture for picture in made if picture not in named and not _is_used(history, picture)]
        is_excused = history.was_shut_out(admitted) or history.ended_in_failure(admitted)
        if len(left) < len(made):
            found.append(KEPT)
        if left and history.is_over(work.finished_at) and not is_excused:
            message = f"{len(left)} of {len(made)} finished pictures of {work.id} were never fetched"
            found.append(Breach((admitted.sequence,), message))
    if KEPT in found:
        yield from found


def _named(history: History) -> Set[str]:
    """Return the ids of the Assets that some address named."""
    names = (record.path.rpartition("/")[2] for record in history.records)
    return {part for name in names for part in (name, name.rpartition("-")[0])}


def _is_used(history: History, picture: str) -> bool:
    """Whether other work was asked to use a picture."""
    name = picture.encode()
    return any(name in (record.request_body or b"") for record in history.with_key)


RULE: Final = ConductRule(
    name="unfetched-pictures",
    severity="note",
    source="Section 4: Only completed outputs are charged.",
    remedy="go through all outputs of a Generation, and fetch each that is completed",
    examine=_examine,
)

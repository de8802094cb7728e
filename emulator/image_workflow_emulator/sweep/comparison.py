"""A run beside the clean run: what was made twice or not at all, and what was not
taken.

Pure functions of journals. What is made are Products, Assets, Upload Sessions and work.
A lost answer must not make more of them, and a client that recovers makes no fewer.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.sweep.journals import Entry, Journal

MADE_TWICE: Final = "made-twice"
"""The rule that is broken where more was made than in the clean run."""
MADE_LESS: Final = "made-less"
"""The rule that is broken where less was made, though the command succeeded."""
OUTPUTS_NOT_TAKEN: Final = "outputs-not-taken"
"""The rule that is broken where one output failed and others were not downloaded."""

_NOUNS: Final = {
    "createProduct": "Product",
    "deleteProduct": "Product",
    "completeUpload": "Asset",
    "deleteAsset": "Asset",
    "createUpload": "Upload Session",
}
"""What operations make or delete, beside work."""
_DELETIONS: Final = ("deleteProduct", "deleteAsset")


def made_twice(
    clean: Sequence[Journal],
    run: Sequence[Journal],
) -> Iterator[ReportFinding]:
    """Yield a finding if a run made more Products or work than the clean run, and did
    not delete them. Work that a fault of the sweep let fail was made in vain, and is
    not counted.
    """
    if not _is_comparable(clean, run):
        return
    usual = _most_made(clean, counts_failed_work=False)
    made = _most_made(run, counts_failed_work=False)
    more = made - usual
    more["createProduct"] -= more.pop("deleteProduct", 0)
    excess = [
        f"{operation} {made[operation]} times instead of {usual[operation]}"
        for operation in +more
    ]
    if excess:
        yield ReportFinding(
            rule=MADE_TWICE,
            severity="error",
            where=None,
            message=f"more was made than without the fault: {', '.join(excess)}",
            remedy="repeat a write whose effect is unknown with the Idempotency-Key of "
            "its first attempt",
        )


def _most_made(
    journals: Iterable[Journal],
    *,
    counts_failed_work: bool,
) -> Counter[str]:
    """Return how often each operation made something, or deleted a Product, in the
    sandbox that had most.
    """
    most = Counter[str]()
    for journal in journals:
        made = Counter[str]()
        for entry in journal:
            is_product = entry.name in ("createProduct", "deleteProduct")
            is_failed = ":fail-" in entry.rule_name and not counts_failed_work
            if entry.committed and (entry.work or is_product) and not is_failed:
                made[entry.name] += 1
        most |= made
    return most


def made_less(
    clean: Sequence[Journal],
    run: Sequence[Journal],
    fault: str,
) -> Iterator[ReportFinding]:
    """Yield a finding if there is less at the end of a run than at that of the clean
    run. `fault` is the name of its rule.
    """
    if not _is_comparable(clean, run):
        return
    missing = _at_end(clean) - _at_end(run)
    if not missing:
        return
    counts = [f"{count_of(count, noun)} less" for noun, count in missing.items()]
    message = f"the command succeeded, with {', '.join(counts)} than without the fault"
    for entry in unrepeated(clean, run, fault):
        message += (
            f"; {entry.name} was answered {_answer_of(entry)} and never came again"
        )
    yield ReportFinding(
        rule=MADE_LESS,
        severity="error",
        where=None,
        message=message,
        remedy="repeat what a client can recover from; if that fails, say so, and do "
        "not end with status 0",
    )


def _at_end(journals: Iterable[Journal]) -> Counter[str]:
    """Return how many of each kind there are at the end, where there are most."""
    most = Counter[str]()
    for journal in journals:
        made = Counter[str]()
        for entry in journal:
            noun = _noun_of(entry)
            if noun and entry.committed and not entry.replayed:
                made[noun] += _change_by(entry)
        made["download"] = len(_downloaded([journal]))
        most |= made
    return most


def _noun_of(entry: Entry) -> str | None:
    """Return what a request made or deleted; None if neither."""
    # The answer may have been lost or replaced by a fault; the path tells it.
    if entry.work and _collection(entry) == "generations":
        return "Generation"
    if entry.work:
        return "Operation"
    return _NOUNS.get(entry.name)


def _change_by(entry: Entry) -> int:
    """Return by how much a request changed the number of what there is."""
    if entry.name in _DELETIONS:
        return -1
    return 1


def unrepeated(
    clean: Iterable[Journal],
    run: Sequence[Journal],
    fault: str,
) -> Iterator[Entry]:
    """Iterate over the POST requests that a fault let fail, and that were neither sent
    again nor looked up. `fault` is the name of its rule.

    A request that the clean run does not have counts as sent again, whatever it says: a
    new Upload Session has another token.
    """
    added = _added(clean, run)
    for journal in run:
        for index, entry in enumerate(journal):
            if entry.rule_name != fault or not _is_failed_post(entry):
                continue
            later = journal[index + 1 :]
            is_followed_up = any(_follows_up(request, entry) for request in later)
            if not is_followed_up and entry.name not in added:
                yield entry


def failed_in_vain(
    clean: Sequence[Journal],
    run: Sequence[Journal],
    fault: str,
) -> Iterator[Entry]:
    """Iterate over the requests whose work a fault let fail, where the client sees in
    the clean run that it is completed, and orders none in its place. `fault` is the
    name of its rule.
    """
    added = _added(clean, run)
    awaited = set[str]()
    for journal in clean:
        awaited |= _awaited(journal)
    for entry in chain.from_iterable(run):
        is_failed = entry.rule_name == fault and entry.committed
        if is_failed and entry.name in awaited and entry.name not in added:
            yield entry


def _awaited(journal: Journal) -> set[str]:
    """Return the operations of whose work a client saw that it was completed."""
    operations: dict[object, str] = {}
    awaited = set[str]()
    for entry in journal:
        if entry.work and not entry.is_read:
            operations[entry.work] = entry.name
            continue
        operation = operations.get(entry.answer.get("id"))
        if operation and entry.answer.get("status") == "completed":
            awaited.add(operation)
    return awaited


def _added(clean: Iterable[Journal], run: Iterable[Journal]) -> Counter[str]:
    """Return how many more requests of each operation a run has than the clean one."""
    usual = Counter(entry.name for entry in chain.from_iterable(clean))
    made = Counter(entry.name for entry in chain.from_iterable(run))
    return made - usual


def _is_failed_post(entry: Entry) -> bool:
    """Tell whether a POST had no answer that its client can use."""
    is_unanswered = entry.is_unanswered or entry.abandoned
    return entry.method == "POST" and (is_unanswered or entry.code is not None)


def _follows_up(later: Entry, entry: Entry) -> bool:
    """Tell whether a later request sends a POST again, or reads what it made."""
    if later.is_read:
        return _collection(later) == _collection(entry)
    if later.name != entry.name:
        return False
    has_same_key = later.idempotency_key == entry.idempotency_key
    return has_same_key or later.request_body == entry.request_body


def _collection(entry: Entry) -> str:
    """Return the first step of a path below `/v1`, such as `products`."""
    return entry.path.split("/")[2]


def _answer_of(entry: Entry) -> str:
    if entry.is_unanswered:
        return "nothing"
    if entry.code is None:
        return "nothing that can be read"
    return f"{entry.status} {entry.code}"


def _is_comparable(clean: Sequence[Journal], run: Sequence[Journal]) -> bool:
    """Tell whether tests shared sandboxes in the same way."""
    return len(clean) == len(run) or max(len(clean), len(run)) <= 1


# What was left --------------------------------------------------------------------


def outputs_not_taken(
    clean: Iterable[Journal],
    run: Iterable[Journal],
) -> Iterator[ReportFinding]:
    """Yield a finding if the clean run downloaded several pictures, and a run in which
    one output failed did not download the others.
    """
    usual = len(_downloaded(clean))
    taken = len(_downloaded(run))
    if usual < 2 or taken >= usual - 1:
        return
    yield ReportFinding(
        rule=OUTPUTS_NOT_TAKEN,
        severity="warning",
        where=None,
        message=f"one output failed, and of the {usual - 1} others only {taken} were "
        "taken",
        remedy="look at each output: the completed ones are paid for, so take them",
    )


def _downloaded(journals: Iterable[Journal]) -> set[str]:
    """Return the paths of the pictures that a client has whole, at once or in parts."""
    paths = set[str]()
    for entry in chain.from_iterable(journals):
        is_whole = entry.status in (200, 206) and not (entry.lost or entry.abandoned)
        if entry.bytes == "download" and is_whole:
            paths.add(entry.path)
    return paths

"""Pages of a collection (section 4): newest first, by opaque cursors bound to the
collection and its filters (D02).

A cursor names the last item shown, not a position: items created or deleted meanwhile
shift nothing. Identifiers increase with creation (D09), so descending ids are
"created_at descending, then id descending".
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import AnyResource
from image_workflow_emulator.kernel.seed import Signer
from image_workflow_emulator.kernel.wording import excerpt

DEFAULT_LIMIT = 25


Item = TypeVar("Item", bound=AnyResource)


class Page(Struct, Generic[Item], frozen=True):
    """A page of items; `next_cursor` is empty on the last one (D26)."""

    items: list[Item]
    next_cursor: str
    has_more: bool


def paginate(
    sections: Sequence[Sequence[str]],
    load: Callable[[str], Item],
    signer: Signer,
    binding: Sequence[str],
    limit: int,
    after: str | None,
    always_a_cursor: bool,
) -> Page[Item]:
    """Cut a page out of a collection.

    Args:
        sections: ascending ids; every id of a later section is above all of an earlier
            one (global, then the Team's).
        load: returns the item of an id.
        signer: signs and checks cursors.
        binding: Team, collection and filters: a cursor is good for these alone.
        limit: the most items of the page.
        after: the cursor of the client, if it sent one.
        always_a_cursor: whether the last page has one too (D26).

    Raises:
        Problem: invalid_cursor, for one that was not issued for this collection and
            these filters (D02).
    """
    last_id = None
    if after is not None:
        last_id = _last_id(after, signer, binding)
    # One item more tells whether another page follows.
    items = [load(name) for name in _newest_ids(sections, last_id, limit + 1)]
    has_more = len(items) > limit
    del items[limit:]
    if not has_more and not always_a_cursor:
        return Page(items, "", has_more)
    last_shown = last_id or ""
    if items:
        last_shown = items[-1].id
    signature = signer.sign("cursor", *binding, last_shown)
    return Page(items, f"{signature}-{last_shown}", has_more)


def _last_id(
    cursor: str,
    signer: Signer,
    binding: Sequence[str],
) -> str:
    """Return the id of the last item that the page of a cursor showed.

    Raises:
        Problem: invalid_cursor.
    """
    signature, separator, last_id = cursor.partition("-")
    if separator and signer.verify(signature, "cursor", *binding, last_id):
        return last_id
    expected = "a next_cursor of this collection and these filters"
    raise Problem(
        "invalid_cursor",
        f"after: found {excerpt(cursor)}; expected {expected}",
        remedy="remove `after`, or send it with the filters of the list that returned "
        "it",
    )


def _newest_ids(
    sections: Sequence[Sequence[str]],
    below: str | None,
    count: int,
) -> list[str]:
    """Return the newest ids of all sections, in descending order.

    `below` is an id that all of them are below, if there is one.
    """
    newest: list[str] = []
    for section in reversed(sections):
        end = len(section)
        if below is not None:
            end = bisect_left(section, below)
        begin = max(end - (count - len(newest)), 0)
        newest += section[begin:end][::-1]
    return newest

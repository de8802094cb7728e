"""Pages: newest first, by cursors bound to a collection and its filters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.domain.pagination import Page, PageRequest, paginate
from emulator.domain.problems import Problem
from emulator.kernel.signing import Signer

SIGNER = Signer(b"test")
BINDING = ("team_1", "products")


def page_of(
    sections: list[list[str]],
    limit: int = 2,
    after: str | None = None,
    binding: tuple[str, ...] = BINDING,
    skip: str = "",
) -> Page[str]:
    request = PageRequest(limit, after, binding)
    return paginate(sections, lambda identifier: None if identifier in skip.split() else identifier, request, SIGNER)


def ids(count: int, prefix: str = "p") -> list[str]:
    return [f"{prefix}{index:03}" for index in range(count)]


def test_a_page_begins_with_the_newest() -> None:
    assert page_of([ids(3)]).items == ["p002", "p001"]


def test_a_page_goes_on_after_its_cursor() -> None:
    first = page_of([ids(3)])
    assert page_of([ids(3)], after=first.next_cursor).items == ["p000"]


def test_the_last_page_has_no_more_and_an_empty_cursor() -> None:
    """D26."""
    page = page_of([ids(2)])
    assert (page.has_more, page.next_cursor) == (False, "")


def test_an_empty_collection_is_one_empty_page() -> None:
    page = page_of([[]])
    assert (page.items, page.has_more) == ([], False)


def test_later_sections_come_first() -> None:
    assert page_of([["a1", "a2"], ["b1"]], limit=9).items == ["b1", "a2", "a1"]


def test_what_the_filters_leave_out_takes_no_place_on_a_page() -> None:
    page = page_of([ids(5)], skip="p004 p002")
    assert (page.items, page.has_more) == (["p003", "p001"], True)


def test_there_is_no_more_when_the_filters_leave_out_all_that_follows() -> None:
    assert not page_of([ids(4)], skip="p000 p001").has_more


def test_an_item_created_meanwhile_shifts_nothing() -> None:
    cursor = page_of([ids(4)]).next_cursor
    assert page_of([ids(9)], after=cursor).items == ["p001", "p000"]


def test_an_item_deleted_meanwhile_shifts_nothing_even_if_the_cursor_names_it() -> None:
    cursor = page_of([ids(5)]).next_cursor
    assert page_of([["p000", "p001", "p002", "p004"]], after=cursor).items == ["p002", "p001"]


def test_the_limit_may_change_from_page_to_page() -> None:
    cursor = page_of([ids(9)]).next_cursor
    assert page_of([ids(9)], limit=3, after=cursor).items == ["p006", "p005", "p004"]


@pytest.mark.parametrize("after", ["", "-", "p001", "0" * 32 + "-p001", "\ud800-p001"])
def test_a_cursor_that_was_never_given_is_refused(after: str) -> None:
    """D02."""
    with pytest.raises(Problem) as caught:
        page_of([ids(3)], after=after)
    assert caught.value.code == "invalid_cursor"


@pytest.mark.parametrize("binding", [("team_2", "products"), ("team_1", "assets"), (*BINDING, "source=upload")])
def test_a_cursor_of_another_team_collection_or_filter_is_refused(binding: tuple[str, ...]) -> None:
    cursor = page_of([ids(3)]).next_cursor
    with pytest.raises(Problem) as caught:
        page_of([ids(3)], after=cursor, binding=binding)
    assert caught.value.code == "invalid_cursor"


def test_a_cursor_cannot_be_turned_to_another_item() -> None:
    cursor = page_of([ids(5)]).next_cursor
    with pytest.raises(Problem):
        page_of([ids(5)], after=cursor.replace("p003", "p001"))


@given(st.lists(st.integers(0, 12), min_size=1, max_size=3), st.integers(1, 5))
def test_all_pages_together_are_the_whole_collection_once(sizes: list[int], limit: int) -> None:
    sections = [ids(size, prefix) for size, prefix in zip(sizes, "abc", strict=False)]
    found: list[str] = []
    after: str | None = None
    while after != "":
        page = page_of(sections, limit, after)
        assert 1 <= len(page.items) <= limit or not any(sections)
        found += page.items
        after = page.next_cursor
    assert found == sorted((identifier for section in sections for identifier in section), reverse=True)

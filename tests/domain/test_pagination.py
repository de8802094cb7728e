"""Pages of a collection (section 4): newest first, each item once, by cursors that are bound to their list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.domain.pagination import PageRequest, paginate
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Asset
from image_workflow_emulator.kernel.signing import Signer

SIGNER = Signer(b"a key")
BINDING = ("team_1", "assets")
IDS = st.sets(st.integers(100, 200), max_size=12)


def asset(identifier: str) -> Asset:
    return Asset(identifier, "team_1", "upload", None, "png", 1, 1, 0)


@given(IDS, IDS, st.integers(1, 5))
def test_the_pages_of_a_list_hold_each_item_once_newest_first(shared: set[int], own: set[int], limit: int) -> None:
    sections = [sorted(f"{kind}{number}" for number in numbers) for kind, numbers in (("g", shared), ("t", own))]
    expected = [name for section in reversed(sections) for name in section[::-1]]
    found: list[str] = []
    after: str | None = None
    while after != "" and len(found) <= len(expected):
        page = paginate(sections, asset, PageRequest(limit, after, BINDING), SIGNER)
        assert page.has_more == (len(found) + len(page.items) < len(expected))
        found, after = found + [item.id for item in page.items], page.next_cursor
    assert expected == found


@pytest.mark.parametrize("binding", [("team_2", "assets"), ("team_1", "products"), (*BINDING, "source=upload")])
def test_a_cursor_is_good_for_its_team_list_and_filters_alone(binding: tuple[str, ...]) -> None:
    """D02."""
    ids = ["a", "b"]
    cursor = paginate([ids], asset, PageRequest(1, None, BINDING), SIGNER).next_cursor
    assert [asset("a")] == paginate([ids], asset, PageRequest(1, cursor, BINDING), SIGNER).items
    for wrong in (cursor[:-1] + "z", cursor.replace("-", ""), ""):
        with pytest.raises(Problem, match="next_cursor"):
            paginate([ids], asset, PageRequest(1, wrong, BINDING), SIGNER)
    with pytest.raises(Problem, match="next_cursor"):
        paginate([ids], asset, PageRequest(1, cursor, binding), SIGNER)

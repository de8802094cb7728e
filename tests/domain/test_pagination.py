"""Pages of a collection, newest first, and what their cursors are good for (section 4,
D02, D26).
"""

from collections.abc import Callable, Sequence

import pytest

from image_workflow_emulator.domain.pagination import Page, paginate
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Pose
from image_workflow_emulator.kernel.seed import Signer

SIGNER = Signer(b"key")
OF_TEAM = ("team_1", "poses")
GLOBAL_POSES = ["a1", "a2"]
POSES_OF_TEAM = ["b1", "b2", "b3"]
NEWEST_FIRST = ["b3", "b2", "b1", "a2", "a1"]


def pose_of(pose_id: str) -> Pose:
    return Pose(
        id=pose_id,
        team_id=None,
        name="Sitting",
        source_asset_ids=(),
        created_at=0,
        updated_at=0,
    )


def page_of(
    limit: int,
    after: str | None = None,
    binding: tuple[str, ...] = OF_TEAM,
    *,
    sections: Sequence[Sequence[str]] = (GLOBAL_POSES, POSES_OF_TEAM),
    load: Callable[[str], Pose] = pose_of,
    always_a_cursor: bool = False,
) -> Page[Pose]:
    """Return a page of all poses, or of those of other sections."""
    return paginate(
        sections,
        load,
        SIGNER,
        binding,
        limit,
        after,
        always_a_cursor,
    )


def ids_of(page: Page[Pose]) -> list[str]:
    return [pose.id for pose in page.items]


@pytest.mark.parametrize("limit", range(1, 6))
def test_pages_lead_through_all_sections_from_the_newest_to_the_oldest(
    limit: int,
) -> None:
    page = page_of(limit)
    seen = ids_of(page)

    while page.has_more:
        page = page_of(limit, page.next_cursor)
        seen += ids_of(page)

    assert seen == NEWEST_FIRST


@pytest.mark.parametrize(
    ("limit", "length", "has_more"),
    [
        (4, 4, True),
        (5, 5, False),
        (6, 5, False),
    ],
)
def test_a_page_has_at_most_its_limit_and_says_whether_more_follow(
    limit: int,
    length: int,
    has_more: bool,
) -> None:
    page = page_of(limit)

    assert ids_of(page) == NEWEST_FIRST[:length]
    assert page.has_more is has_more
    assert bool(page.next_cursor) is has_more


def test_the_last_page_has_no_cursor() -> None:
    page = page_of(5)

    assert page.next_cursor == ""


def test_a_cursor_is_a_signature_with_the_last_item_shown() -> None:
    signature = SIGNER.sign("cursor", *OF_TEAM, "b2")

    page = page_of(2)

    assert page.next_cursor == f"{signature}-b2"


def test_by_one_reading_the_last_page_has_a_cursor_too() -> None:
    last_page = page_of(5, always_a_cursor=True)
    empty_page = page_of(5, last_page.next_cursor, always_a_cursor=True)

    assert last_page.next_cursor.endswith("-a1")
    assert ids_of(empty_page) == []
    assert empty_page.next_cursor == last_page.next_cursor


def test_by_that_reading_an_empty_collection_has_a_cursor_to_nothing() -> None:
    signature = SIGNER.sign("cursor", *OF_TEAM, "")

    page = page_of(5, sections=[[]], always_a_cursor=True)

    assert page.next_cursor == f"{signature}-"
    assert page.has_more is False


@pytest.mark.parametrize(
    "cursor",
    [
        pytest.param("", id="nothing"),
        pytest.param("b2", id="an id"),
        pytest.param("0-b2", id="another signature"),
        pytest.param(
            SIGNER.sign("cursor", *OF_TEAM, ""),
            id="a signature alone",
        ),
    ],
)
def test_a_cursor_that_was_not_issued_is_refused(cursor: str) -> None:
    with pytest.raises(Problem) as refused:
        page_of(2, cursor)

    assert refused.value.code == "invalid_cursor"
    assert refused.value.detail == (
        f'after: found "{cursor}"; expected a next_cursor of this collection and '
        "these filters"
    )
    assert refused.value.remedy is not None


@pytest.mark.parametrize(
    "binding",
    [
        pytest.param(("team_2", "poses"), id="of another Team"),
        pytest.param(("team_1", "backgrounds"), id="of another kind"),
    ],
)
def test_a_cursor_of_another_collection_is_refused(binding: tuple[str, ...]) -> None:
    cursor = page_of(2).next_cursor

    with pytest.raises(Problem, match="expected a next_cursor of this collection"):
        page_of(2, cursor, binding)


def test_a_cursor_goes_on_below_an_item_that_is_gone() -> None:
    first_page = page_of(2)

    page = page_of(
        2,
        first_page.next_cursor,
        sections=[["b1", "b3"]],
    )

    assert ids_of(page) == ["b1"]


def test_a_page_loads_one_item_more_than_it_shows() -> None:
    loaded: list[str] = []

    def load(pose_id: str) -> Pose:
        loaded.append(pose_id)
        return pose_of(pose_id)

    page_of(3, load=load)

    assert loaded == NEWEST_FIRST[:4]

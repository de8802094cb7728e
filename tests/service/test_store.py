"""Collections: what is in them, in order, by every filter, after any changes."""

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.domain.resources import Asset
from image_workflow_emulator.service.sandbox.store import Collection

TEAMS = st.sampled_from("ab")
SOURCES: st.SearchStrategy[Literal["upload", "generation"]] = st.sampled_from(("upload", "generation"))
FORMATS: st.SearchStrategy[PictureFormat] = st.sampled_from(("png", "webp"))
STEPS = st.lists(st.tuples(st.integers(0, 9), TEAMS, SOURCES, FORMATS, st.booleans()), max_size=40)


@given(STEPS)
def test_a_filter_finds_what_has_its_values_whatever_was_added_changed_and_removed(
    steps: list[tuple[int, str, Literal["upload", "generation"], PictureFormat, bool]],
) -> None:
    collection, expected = Collection[Asset](("source", "format")), dict[str, Asset]()
    for number, (which, team, source, file_format, is_removed) in enumerate(steps):
        old = next((item for item in expected.values() if int(item.id) % 10 == which), None)
        if old is None:
            new = Asset(f"{number * 10 + which:04}", team, source, None, file_format, 1, 1, 0)
            collection.add(new)
            expected[new.id] = new
        elif is_removed:
            collection.remove(expected.pop(old.id))
        else:
            expected[old.id] = replace(old, source=source, format=file_format)
            collection.replace(expected[old.id])
    for team in "ab":
        for values in (
            {},
            {"source": "upload"},
            {"format": "webp"},
            {"source": "upload", "format": "png"},
            {"source": "z"},
        ):
            found = [
                item.id
                for item in expected.values()
                if item.team_id == team and all(getattr(item, name) == value for name, value in values.items())
            ]
            assert sorted(found) == list(collection.ids(team, values))

"""Collections: what is in them, in order, by every filter, after any changes."""

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from emulator.service.store import Collection


@dataclass(frozen=True)
class Item:
    id: str
    team_id: str
    status: str
    kind: str


TEAMS, STATUSES, KINDS = st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("pq")
STEPS = st.lists(st.tuples(st.integers(0, 9), TEAMS, STATUSES, KINDS, st.booleans()), max_size=40)


@given(STEPS)
def test_a_filter_finds_what_has_its_values_whatever_was_added_changed_and_removed(
    steps: list[tuple[int, str, str, str, bool]],
) -> None:
    collection, expected = Collection[Item](("status", "kind")), dict[str, Item]()
    for number, (which, team, status, kind, is_removed) in enumerate(steps):
        old = next((item for item in expected.values() if int(item.id) % 10 == which), None)
        if old is None:
            new = Item(f"{number * 10 + which:04}", team, status, kind)
            collection.add(new)
            expected[new.id] = new
        elif is_removed:
            collection.remove(expected.pop(old.id))
        else:
            expected[old.id] = replace(old, status=status, kind=kind)
            collection.replace(expected[old.id])
    for team in "ab":
        for values in ({}, {"status": "x"}, {"kind": "q"}, {"status": "y", "kind": "p"}, {"status": "z"}):
            found = [
                item.id
                for item in expected.values()
                if item.team_id == team and all(getattr(item, name) == value for name, value in values.items())
            ]
            assert sorted(found) == list(collection.ids(team, values))

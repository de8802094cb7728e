"""The names in a scenario file: the Teams and keys that its rules and its timeline use, and the names of its rules.

They are checked wherever they stand, whatever else is wrong there, so that every mistake is reported at once. Must not
know what a rule or a change does.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from emulator.documents.complaints import nearest, one_of
from emulator.documents.document import Document
from emulator.documents.schemas import Steps
from emulator.kernel.wording import excerpt
from emulator.scenario.world import WorldNames

LIMITED: Final = ", as this scenario is limited to one Team"
"""Why other Teams and their keys cannot be named, in words."""


def rule_name(rule: Mapping[str, Any], index: int) -> str:
    """Return the name of a rule: one without a name is called by its place, `rule 1`."""
    return str(rule.get("name", f"rule {index + 1}"))


def check_names(document: Document, texts: Mapping[str, Any], names: WorldNames | None) -> None:
    """Complain of names that two rules have, and, if the world is known, of Teams and keys that cannot be named."""
    _check_rule_names(document, texts)
    known = None if names is None else _with_world(names, texts.get("world", {}))
    if known is None:
        return
    kinds = (("team", known.teams, "the name of a Team"), ("credential", known.keys, "a key of the world"))
    for steps, given in _naming(texts):
        for field, there_are, kind in kinds:
            usable, name = known.usable(there_are), given.get(field)
            if isinstance(name, str) and name not in usable and document.is_sound(*steps, field):
                expected = one_of(usable, kind) + (LIMITED if known.only is not None else "")
                document.complain((*steps, field), expected, suggestions=nearest(name, usable))


def _check_rule_names(document: Document, texts: Mapping[str, Any]) -> None:
    taken: dict[str, int] = {}
    for index, rule in objects_of(texts, "rules"):
        name = rule_name(rule, index)
        if name in taken:
            found = f"the name {excerpt(name)} again, first given to /rules/{taken[name]}"
            document.complain(("rules", index), "a name of its own for each rule", found)
        taken.setdefault(name, index)


def _with_world(names: WorldNames, world: Any) -> WorldNames | None:
    """Return the names with those that a scenario's world brings along; None where it cannot be told which these are."""
    teams, keys = dict(names.teams), dict(names.keys)
    if not isinstance(world, dict) or not world.keys() <= {"teams", "timings", "premade"}:
        return None
    for name, team in mapping_of(world, "teams").items():
        teams.setdefault(name, name)
        for _, credential in objects_of(team, "credentials"):
            keys.setdefault(str(credential.get("key")), teams[name])
    return replace(names, teams=teams, keys=keys)


def _naming(texts: Mapping[str, Any]) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """Return the parts of a file that can name a Team or a key, with their places."""
    for index, rule in objects_of(texts, "rules"):
        yield ("rules", index, "match"), mapping_of(rule, "match")
    for index, change in objects_of(texts, "timeline"):
        yield ("timeline", index, "after", "match"), mapping_of(mapping_of(change, "after"), "match")
        yield ("timeline", index, "set"), mapping_of(change, "set")


def objects_of(given: Any, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Return the objects of a list, with their indexes; nothing where there is no list."""
    listed = given.get(name) if isinstance(given, dict) else None
    for index, item in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(item, dict):
            yield index, item


def mapping_of(given: Any, name: str) -> Mapping[str, Any]:
    """Return an object within an object, an empty one where there is none."""
    found = given.get(name) if isinstance(given, dict) else None
    return found if isinstance(found, dict) else {}

"""The names in a scenario file: the Teams and keys that its rules and its timeline use, and the names of its rules.

Must not know what a rule or a change does.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from emulator.documents.document import Document
from emulator.documents.schemas import Steps
from emulator.kernel.wording import excerpt
from emulator.scenario.world import WorldNames


def rule_name(rule: Mapping[str, Any], index: int) -> str:
    """Return the name of a rule: one without a name is called by its place, `rule 1`."""
    return str(rule.get("name", f"rule {index + 1}"))


def check_names(document: Document, texts: Mapping[str, Any], names: WorldNames | None) -> None:
    """Complain of names that two rules have, and, if the world is known, of Teams and keys that cannot be named."""
    _check_rule_names(document, texts.get("rules", ()))
    if names is None:
        return
    known = _with_world(names, texts.get("world", {}))
    kinds = (("team", known.teams, "the name of a Team"), ("credential", known.keys, "a key of the world"))
    for steps, given in _naming(texts):
        _check_owner(document, steps, given, known)
        for field, there_are, kind in kinds:
            if field in given:
                document.check_word((*steps, field), given[field], known.usable(there_are), kind)


def _check_owner(document: Document, steps: Steps, given: Mapping[str, Any], names: WorldNames) -> None:
    """Complain of a key that does not belong to the Team beside it: no request has both."""
    key, team = given.get("credential"), given.get("team")
    owner, wanted = names.keys.get(str(key)), names.teams.get(str(team))
    if owner is not None and wanted not in (None, owner):
        found = f"{excerpt(key)}, a key of the Team {excerpt(owner)}"
        document.complain((*steps, "credential"), f"a key of the Team {excerpt(wanted)}", found)


def _check_rule_names(document: Document, rules: Sequence[Mapping[str, Any]]) -> None:
    taken: dict[str, int] = {}
    for index, rule in enumerate(rules):
        name = rule_name(rule, index)
        if name in taken:
            found = f"the name {excerpt(name)} again, first given to /rules/{taken[name]}"
            document.complain(("rules", index), "a name of its own for each rule", found)
        taken.setdefault(name, index)


def _with_world(names: WorldNames, world: Mapping[str, Any]) -> WorldNames:
    """Return the names with those that a scenario's world brings along."""
    teams, keys = dict(names.teams), dict(names.keys)
    for name, team in world.get("teams", {}).items():
        teams.setdefault(name, name)
        for credential in team.get("credentials", ()):
            keys.setdefault(credential["key"], teams[name])
    return replace(names, teams=teams, keys=keys)


def _naming(texts: Mapping[str, Any]) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """Return the parts of a file that can name a Team or a key, with their places."""
    for index, rule in enumerate(texts.get("rules", ())):
        yield ("rules", index, "match"), rule.get("match", {})
    for index, change in enumerate(texts.get("timeline", ())):
        yield ("timeline", index, "after", "match"), change.get("after", {}).get("match", {})
        yield ("timeline", index, "set"), change["set"]

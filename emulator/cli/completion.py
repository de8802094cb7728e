"""What a shell offers to complete a word: names of scenarios, operations, problem codes, rules of conduct, modes of the clock.

Knows which options take them, by the names of these. Imported where a shell asks, together with argcomplete, which is an
optional dependency.
"""

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

import argcomplete
from argcomplete.completers import FilesCompleter

from emulator.cli.arguments import COMMANDS
from emulator.contract import load_contract
from emulator.domain.problems import CATALOGUE
from emulator.kernel.clock import CLOCK_MODES
from emulator.scenario.library import shipped_library
from emulator.settings import OPTIONS

Words = Callable[[str, Namespace], Iterable[str]]


def complete(parser: ArgumentParser, environment: MutableMapping[str, str]) -> None:
    """Answer the shell, which asks by the environment, and exit."""
    _add_completers(parser)
    _type_default_verb(environment)
    argcomplete.autocomplete(parser)


def _type_default_verb(environment: MutableMapping[str, str]) -> None:
    """Let argcomplete see the default verb of a command, where an option follows it."""
    line, point = environment["COMP_LINE"], int(environment["COMP_POINT"])
    words = line.split(" ")
    command = COMMANDS.get(words[1]) if len(words) > 2 else None
    if command is not None and command.verb is not None and words[2].startswith("-"):
        environment["COMP_LINE"] = " ".join([*words[:2], command.verb, *words[2:]])
        environment["COMP_POINT"] = str(point + len(command.verb) + 1)


def _add_completers(parser: ArgumentParser) -> None:
    for action in parser._actions:  # noqa: SLF001 (they have no public name)
        if isinstance(action, _SubParsersAction):
            for verb in action.choices.values():
                _add_completers(verb)
        elif action.dest in _WORDS and not action.choices:
            action.completer = _Completer(_WORDS[action.dest])  # type: ignore[attr-defined]


class _Completer:
    """Offers the words that begin as what was typed."""

    def __init__(self, words: Iterable[str] | Words) -> None:
        self._words = words

    def __call__(self, prefix: str, parsed_args: Namespace, **_: Any) -> list[str]:
        words = self._words(prefix, parsed_args) if callable(self._words) else self._words
        return [word for word in words if word.startswith(prefix)]


def _library(_prefix: str, _options: Namespace) -> list[str]:
    return shipped_library(load_contract()).names()


def _scenarios(prefix: str, options: Namespace) -> Iterable[str]:
    return (*_library(prefix, options), *FilesCompleter()(prefix))


def _operations(_prefix: str, _options: Namespace) -> Iterable[str]:
    return (*load_contract().operations, "none")


def _clock_values(_prefix: str, options: Namespace) -> Iterable[str]:
    return CLOCK_MODES if options.action == "mode" else ()


def _rules(_prefix: str, _options: Namespace) -> Iterable[str]:
    from emulator.examiner.rules.registry import RULES

    return [rule.name for rule in RULES]


_WORDS: dict[str, Iterable[str] | Words] = {
    **{option.field: option.words for option in OPTIONS if option.words},
    "value": _clock_values,
    "operation": _operations,
    "code": (*CATALOGUE, "none"),
    "scenario": _scenarios,
    "name": _library,
    "ignore": _rules,
}
"""What can stand for an option or argument, by its name."""

"""What a shell offers to complete a word: names of scenarios, operations, problem codes, rules of conduct, modes of the clock.

Knows which options take them, by the names of these. Imported where a shell asks, together with argcomplete, which is an
optional dependency.
"""

from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterable, Mapping

import argcomplete
from argcomplete.completers import ChoicesCompleter

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.examiner.rules.registry import RULES
from image_workflow_emulator.kernel.clock import CLOCK_MODES
from image_workflow_emulator.scenario.library import shipped_library
from image_workflow_emulator.settings import OPTIONS


def complete(parser: ArgumentParser) -> None:
    """Answer the shell, which asks by the environment, and exit. Where no word fits, the shell offers files."""
    contract = load_contract()
    library = shipped_library(contract).names()
    words: dict[str, Iterable[str]] = {
        **{option.field: option.kind.words for option in OPTIONS if option.kind.words},
        "ignore": [rule.name for rule in RULES],
        "value": CLOCK_MODES,
        "operation": (*contract.operations, "none"),
        "code": (*CATALOGUE, "none"),
        "scenario": library,
        "name": library,
    }
    _add_completers(parser, words)
    argcomplete.autocomplete(parser)


def _add_completers(parser: ArgumentParser, words: Mapping[str, Iterable[str]]) -> None:
    for action in parser._actions:  # noqa: SLF001 (they have no public name)
        if isinstance(action, _SubParsersAction):
            for verb in action.choices.values():
                _add_completers(verb, words)
        elif action.dest in words and not action.choices:
            action.completer = ChoicesCompleter(words[action.dest])  # type: ignore[attr-defined,arg-type]

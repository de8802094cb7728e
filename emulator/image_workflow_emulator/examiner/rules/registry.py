"""The rules of conduct: each a function of a file of this folder, with its words, in the order of reports."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from image_workflow_emulator.examiner.rules import keys, refusals, results, retries
from image_workflow_emulator.examiner.rules.rule import ConductRule

_WORDS: Final = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))
_FUNCTIONS: Final = {**vars(keys), **vars(refusals), **vars(results), **vars(retries)}

RULES: Final = tuple(
    ConductRule(name, _FUNCTIONS[name.replace("-", "_")], **words) for name, words in _WORDS["rules"].items()
)
LIBRARIES: Final[Mapping[str, str]] = _WORDS["libraries"]
"""By product in the User-Agent: what the library calls a retry policy."""
WAITING: Final = ("retry-before-retry-after", "no-backoff", "retries-without-end", "gave-up-on-retryable")
"""The rules that such a policy keeps."""

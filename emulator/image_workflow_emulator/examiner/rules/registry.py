"""The rules of conduct: each a function of a file of this folder, with its words, in the order of reports."""

from collections.abc import Mapping
from typing import Final

from image_workflow_emulator.examiner.rules import keys, refusals, results, retries
from image_workflow_emulator.examiner.rules.rule import ConductRule
from image_workflow_emulator.examiner.words import WORDS

_FUNCTIONS: Final = {**vars(keys), **vars(refusals), **vars(results), **vars(retries)}

RULES: Final = tuple(ConductRule(_FUNCTIONS[name.replace("-", "_")], **words) for name, words in WORDS["rules"].items())
LIBRARIES: Final[Mapping[str, str]] = WORDS["libraries"]
"""By product in the User-Agent: what the library calls a retry policy."""
WAITING: Final = ("retry-before-retry-after", "no-backoff", "retries-without-end", "gave-up-on-retryable")
"""The rules that such a policy keeps."""

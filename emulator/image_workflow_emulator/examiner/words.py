"""The words of the examiner, from `words.toml`: of the rules of conduct, and of what closes gaps of the coverage."""

import tomllib
from pathlib import Path
from typing import Any, Final

WORDS: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

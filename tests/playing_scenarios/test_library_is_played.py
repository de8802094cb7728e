"""Every scenario that ships is played by a test, and by name: a file cannot join the library without one."""

import re
from pathlib import Path

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "scenarios"


def test_every_scenario_of_the_library_has_a_play() -> None:
    source = "".join(file.read_text(encoding="utf-8") for file in HERE.glob("test_plays_*.py"))
    played = re.findall(r"^@pytest\.mark\.plays\(\s*\"([a-z0-9-]+)\"", source, re.MULTILINE)
    assert sorted(file.stem for file in LIBRARY.glob("*.yaml")) == sorted(set(played))

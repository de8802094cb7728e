"""Each claim of the page names a command that there is, and what came of it."""

import re

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.problems import CATALOGUE
from tests.claims.claims import PAGE, ROOT, claims

TEXT = PAGE.read_text(encoding="utf-8")


def test_each_claim_counts_what_there_is_and_is_proved_by_tests_or_a_measurement() -> None:
    assert len(claims(TEXT)) == TEXT.count("\n## ")
    for claim in claims(TEXT).values():
        places = re.findall(r"tests/[\w/.]+", claim["command"])
        assert places or claim["command"] == "make bench"
        assert all((ROOT / place).exists() for place in places)
        assert re.match(r"On \d{4}-\d\d-\d\d(, \*\*not proved\*\*)?:[ \n]", claim["result"])
    assert f"All {len(load_contract().operations)} operations" in TEXT
    assert f"the {len(CATALOGUE)} problem codes" in TEXT

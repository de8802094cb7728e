"""The page of claims says what the last reports said, and each claim names a command that there is."""

import re

from emulator.contract import load_contract
from emulator.domain.problems import CATALOGUE
from tests.claims.claims import CLAIMS, PAGE, read_figures, render
from tests.support.served import ROOT


def test_the_page_is_made_of_the_last_figures() -> None:
    assert render(read_figures()) == PAGE.read_text(encoding="utf-8")


def test_each_claim_counts_what_there_is_and_is_proved_by_tests_or_a_measurement() -> None:
    for claim in CLAIMS:
        places = re.findall(r"tests/[\w/.]+", claim.command)
        assert places or claim.command in ("make soak", "make bench")
        assert all((ROOT / place).exists() for place in places)
    promises = " ".join(claim.promise for claim in CLAIMS)
    assert f"All {len(load_contract().operations)} operations" in promises
    assert f"the {len(CATALOGUE)} problem codes" in promises

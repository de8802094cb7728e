"""Schemathesis against a real server: all its phases with request rates off, a run with them on, and walks along the links.

The configuration is that of the contract runs, which every `make test` makes without a socket; here are more requests, and
the server and its parser of HTTP are under test as well.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.contract_runs.running import assert_all_served, told_by_all_phases
from tests.contract_runs.served_service import ServedService
from tests.contract_runs.test_links import FEWEST_OUTCOMES, Guide, walk_along_links
from tests.support.served import serving

pytestmark = pytest.mark.verify

EXAMPLES = 100
LIMITED_EXAMPLES = 40
REQUESTS_PER_MINUTE = 120
WALKS = 150
STEPS = 12


def told_over_http(folder: Path, *options: str, **variables: str) -> dict[str, Any]:
    with serving("--clock", "manual", "--seed", "0") as emulator:
        return told_by_all_phases(folder, *options, url=emulator.base_url, SERVED_ORIGIN=emulator.url, **variables)


def test_every_operation_keeps_to_the_contract_over_the_wire(tmp_path: Path) -> None:
    statuses = told_over_http(tmp_path, "--max-examples", str(EXAMPLES))["statuses"]
    assert_all_served(statuses)
    print(f"requests: {sum(sum(seen.values()) for seen in statuses.values())}")


def test_with_request_rates_every_121st_request_of_a_minute_is_refused_whatever_it_asks(tmp_path: Path) -> None:
    """429 is expected here, so that what is accepted or refused besides is judged by the run without them."""
    told = told_over_http(
        tmp_path,
        *("--max-examples", str(LIMITED_EXAMPLES)),
        *("--exclude-checks", "positive_data_acceptance,negative_data_rejection,missing_required_header"),
        SERVED_RATE_LIMITS="on",
    )
    limits = told["let_in_between_limits"]
    assert {REQUESTS_PER_MINUTE} == set(limits)
    assert len(limits) == sum(seen.get("429", 0) for seen in told["statuses"].values())
    print(f"429: {len(limits)}")


def test_walks_along_the_links_keep_to_the_contract_over_the_wire() -> None:
    with serving("--clock", "manual", "--rate-limits", "off") as emulator:
        guide = Guide(ServedService(emulator.url))
        walk_along_links(guide, WALKS, STEPS, base_url=emulator.base_url)
    assert len(guide.outcomes) >= FEWEST_OUTCOMES
    print(f"outcomes: {len(guide.outcomes)}")

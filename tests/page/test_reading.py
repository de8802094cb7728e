"""What the page asks the emulator for.

Everything once at the start, and little for each request of a client.
"""

from collections import Counter
from typing import Any

import pytest

from tests.page.browser import REGIONS, Service, Visit, expect

pytestmark = pytest.mark.verify
PLACES = [name.lower() for name in REGIONS]


def asked(visit: Visit) -> list[str]:
    """The answers of the control plane that the page asked for."""
    start = f"{visit.origin}/_emulator/"
    addresses = [address for address in visit.addresses if start in address]
    paths = [address.removeprefix(start) for address in addresses]
    return [path for path in paths if not path.startswith("page/")]


def repeated(paths: list[str]) -> dict[str, int]:
    """The paths that come more than once, with how often."""
    counts = Counter(paths)
    return {path: count for path, count in counts.items() if count > 1}


WAIT_FOR_QUIET = """
() => {
    const count = performance.getEntriesByType("resource").length;
    if (window.counted !== count) {
        window.counted = count;
        window.since = performance.now();
    }
    return performance.now() - window.since > 1500;
}
"""


def settle(visit: Visit) -> None:
    """Wait until the page asks for nothing more."""
    visit.page.wait_for_function(WAIT_FOR_QUIET)


@pytest.mark.parametrize("place", [*PLACES, "requests/1", "scenario/edit"])
def test_nothing_is_read_twice_at_the_start(
    visitor: Any,
    service: Service,
    place: str,
) -> None:
    service.photoshoot()

    visit = visitor(f"/_emulator#{place}")

    settle(visit)
    assert repeated(asked(visit)) == {}


def test_nothing_about_an_id_is_read_twice_at_the_start(
    visitor: Any,
    service: Service,
) -> None:
    generation = service.photoshoot()

    visit = visitor(f"/_emulator#/{generation['id']}")

    expect(visit.page.get_by_role("article")).to_be_visible()
    settle(visit)
    assert repeated(asked(visit)) == {}


@pytest.mark.parametrize("region", ["Requests", "Work", "Gallery", "Teams"])
def test_a_request_that_only_reads_is_shown_without_a_read(
    visit: Visit,
    service: Service,
    region: str,
) -> None:
    service.photoshoot()
    expect(visit.region(region)).to_be_visible()
    settle(visit)
    visit.addresses.clear()

    service.get("/team")

    settle(visit)
    assert asked(visit) == []
    row = visit.requests("getTeam")
    expect(row).to_be_visible()


def test_the_clock_is_not_read_for_each_part_that_shows_it(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()
    expect(visit.region("Work")).to_contain_text("queued")
    settle(visit)
    visit.addresses.clear()

    service.advance(1)

    expect(visit.region("Work")).to_contain_text("processing")
    settle(visit)

    # Work has changed and the clock has moved: the stream may send these apart.
    assert Counter(asked(visit))["clock"] <= 2

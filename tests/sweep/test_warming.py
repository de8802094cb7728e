"""The emulator of a sweep's runs, before the first of them."""

import os
import sys
from pathlib import Path

import pytest

from image_workflow_emulator.imaging.helpers import MAX_HELPERS
from image_workflow_emulator.sweep.warming import warm_up
from image_workflow_emulator.testing import Emulator
from tests.support.helpers_of import PROCESSES, helpers_of
from tests.sweep.commands import report_of

needs_proc = pytest.mark.skipif(not PROCESSES.exists(), reason="there is no /proc here")


@needs_proc
@pytest.mark.parametrize("token", [None, "open sesame"])
def test_the_processes_for_small_pictures_are_there_before_the_first_run(
    token: str | None,
) -> None:
    before = helpers_of(os.getpid())

    with Emulator.start(control_token=token) as emulator:
        warm_up(emulator, token)

        new = helpers_of(os.getpid()) - before
        assert MAX_HELPERS == len(new)


def test_an_emulator_that_can_make_no_pictures_is_left_as_it_is(tmp_path: Path) -> None:
    world = tmp_path / "world.yaml"
    world.write_text("teams: {}")

    with Emulator.start(world=world) as emulator:
        warm_up(emulator, None)

        assert [] == emulator.default.requests()


COUNTING = """
import os
import urllib.request

from tests.support.helpers_of import emulator_of, helpers_of

url = os.environ["IMAGE_WORKFLOW_BASE_URL"]
request = urllib.request.Request(url + "/assets")
request.add_header("Authorization", "Bearer " + os.environ["IMAGE_WORKFLOW_API_KEY"])
urllib.request.urlopen(request).read()
helpers = helpers_of(emulator_of(os.getpid()))
with open({counts!r}, "a") as counts:
    print(len(helpers), file=counts)
"""
"""It reads its Assets, which have to be drawn for that, and counts who draws."""
GIVEN = """
given:
  - product: {name: Shirt, photos: 1}
"""


@needs_proc
def test_a_picture_of_the_clean_run_is_not_drawn_again(tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    given = tmp_path / "given.yaml"
    given.write_text(GIVEN)
    options = ["--given", str(given), "--only", "listAssets#1:slow"]
    command = [sys.executable, "-c", COUNTING.format(counts=str(counts))]

    report = report_of(tmp_path, options, command)

    of_clean_run, *of_others = counts.read_text().split()
    assert "1" == of_clean_run
    assert {"0"} == set(of_others)
    assert 0 == report.status

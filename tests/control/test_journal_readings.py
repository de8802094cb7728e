"""The journal and its explanations name the readings that changed an answer."""

import pytest

from image_workflow_emulator.control.describing import describe_request
from image_workflow_emulator.control.masks import Masks
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.traffic.decisions import readings_shown
from tests.drift.recorded import CONTRACT, toured
from tests.support.emulator_client import EmulatorUnderTest


@pytest.mark.emulator(readings="D22=unordered,D26=always-a-cursor")
def test_the_journal_and_its_explanations_name_the_readings_that_an_answer_shows(emulator: EmulatorUnderTest) -> None:
    emulator.get("/team")
    emulator.get("/poses")
    listed, team = emulator.told("GET", "/requests")["data"]
    assert ([], ["D26=always-a-cursor"]) == (team["readings"], listed["readings"])
    (told,) = emulator.told("GET", "/requests/2")["explanation"]["readings"]
    assert ("D26=always-a-cursor", True) == (told["reading"], "cursor" in told["emulator"])
    assert [] == emulator.told("GET", "/requests/1")["explanation"]["readings"]


@pytest.mark.parametrize(
    "readings", ["other", "D10=releases,D33=other-defaults,D37=whole,D42=rough", "D33=count-ignored"]
)
def test_every_reading_is_named_but_that_of_pictures_which_no_record_holds(readings: str) -> None:
    sandbox = toured(readings).application.sandboxes.default
    masks = Masks(sandbox.credentials)
    entries = [describe_request(record, masks) for record in sandbox.journal.newest_first()][::-1]
    named = {name for names in readings_shown(entries, sandbox.readings, CONTRACT).values() for name in names}
    assert set(chosen(sandbox.readings)) - {"D57=small"} == named

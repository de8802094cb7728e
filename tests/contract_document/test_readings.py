"""The ledger's readings and those of the code are the same."""

from image_workflow_emulator.domain.readings import NO_READINGS, PLAIN, READINGS, Readings
from tests.contract_document.test_decisions_document import READINGS as LEDGER


def test_the_code_has_each_reading_of_the_ledger_and_no_other() -> None:
    told = [(f"{decision}={reading['id']}", reading["gives"]) for decision, reading in LEDGER]
    assert told == [(reading.name, reading.gives) for reading in READINGS.values()]


def test_each_field_of_the_readings_belongs_to_one_decision() -> None:
    decisions = {reading.field: reading.decision for reading in READINGS.values()}
    assert set(Readings.__struct_fields__) == set(decisions)
    assert len(decisions) == len(set(decisions.values()))
    assert {PLAIN} == {getattr(NO_READINGS, field) for field in Readings.__struct_fields__}

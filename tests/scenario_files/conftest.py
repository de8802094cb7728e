"""What the contract says, as the plain data that this room is handed."""

import pytest

from emulator.contract import DOCUMENT, Contract
from emulator.documents import shipped_document
from emulator.scenario.vocabulary import OperationFacts


@pytest.fixture(scope="session")
def operations() -> OperationFacts:
    contract = Contract(shipped_document(DOCUMENT))
    return {operation.id: operation.all_codes for operation in contract.operations.values()}

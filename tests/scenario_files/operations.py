"""What the contract says of its operations, as the plain data that this room is handed."""

from typing import Final

from emulator.contract import load_contract
from emulator.scenario.vocabulary import OperationFacts

OPERATIONS: Final[OperationFacts] = load_contract().problem_codes()

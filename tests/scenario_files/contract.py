"""The contract that scenarios are checked against, read once."""

from typing import Final

from emulator.contract import load_contract

CONTRACT: Final = load_contract()

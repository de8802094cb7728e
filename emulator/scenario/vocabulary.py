"""The words that a scenario may use beside its own keys: operations, what they take and return, and names of a world."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from emulator.contract import Contract, OperationContract
from emulator.domain.problems import CATALOGUE
from emulator.scenario.matching import EVERY
from emulator.scenario.world import WorldNames

CODES: Final = frozenset(CATALOGUE)


class Vocabulary(Struct, frozen=True):
    """What a file is checked against. `world` None: it is unknown, and every name is accepted."""

    contract: Contract
    world: WorldNames | None = None

    def named(self, names: frozenset[str]) -> list[OperationContract]:
        """Return the operations that are meant, in the contract's order."""
        known = self.contract.operations
        return [operation for name, operation in known.items() if name in names or EVERY in names]


def common_codes(operations: Iterable[OperationContract]) -> frozenset[str]:
    """Return the codes that every one of the operations can return."""
    return CODES.intersection(*(operation.all_codes for operation in operations))

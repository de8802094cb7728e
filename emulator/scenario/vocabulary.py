"""The words that a scenario may use beside its own keys: operations, their codes, kinds of work, names of a world.

Codes and kinds of work are the domain's. Which operations there are, and which codes each can return, is passed as
plain data by the room that reads the contract.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from emulator.domain.problems import CATALOGUE
from emulator.scenario.matching import EVERY
from emulator.scenario.world import WorldNames

OperationFacts: TypeAlias = Mapping[str, frozenset[str]]
"""By operation id, the problem codes that the contract allows."""

CODES: Final = frozenset(CATALOGUE)


class Vocabulary(Struct, frozen=True):
    """What a file is checked against. `world` None: it is unknown, and every name is accepted."""

    operations: OperationFacts
    world: WorldNames | None = None

    def named(self, operations: frozenset[str]) -> list[str]:
        """Return the operation ids that are meant, in the contract's order."""
        return [name for name in self.operations if name in operations or EVERY in operations]

    def unable(self, code: str, operations: Iterable[str]) -> list[str]:
        """Return those of the operations that cannot return a code."""
        return [operation for operation in operations if code not in self.operations[operation]]

    def common_codes(self, operations: Iterable[str]) -> frozenset[str]:
        """Return the codes that every one of the operations can return."""
        return CODES.intersection(*(self.operations[operation] for operation in operations))

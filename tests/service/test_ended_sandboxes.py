"""What sandboxes held that were reset or deleted."""

from pathlib import Path

from emulator.app import sandbox_options
from emulator.contract import load_contract
from emulator.service.images import MemoryBudget
from emulator.service.sandboxes import Sandboxes
from tests.support.emulator_client import settings_of

MANY = 10_000


def test_a_large_sandbox_is_freed_part_by_part(tmp_path: Path) -> None:
    options = sandbox_options(settings_of(tmp_path), load_contract())
    sandboxes = Sandboxes(MemoryBudget(0))
    for name, end in (("reset", sandboxes.reset), ("deleted", sandboxes.delete)):
        sandbox = sandboxes.create(name, options)
        for number in range(MANY):
            sandbox.journal.arrive(0, f"req_{number}", "GET", "/", None)
        end(sandbox)
        assert len(list(sandboxes.free())) > 2
        assert list(sandboxes.free()) == []

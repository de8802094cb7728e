"""What sandboxes held that were reset or deleted."""

import gc
from pathlib import Path
from weakref import ref

from emulator.app import sandbox_options
from emulator.contract import load_contract
from emulator.examiner.examiner import Examiner
from emulator.service.images import MemoryBudget
from emulator.service.sandboxes import Sandboxes
from tests.support.emulator_client import EmulatorUnderTest, settings_of

MANY = 10_000


def test_a_large_sandbox_is_freed_part_by_part(tmp_path: Path) -> None:
    options = sandbox_options(settings_of(tmp_path), load_contract())
    sandboxes = Sandboxes(MemoryBudget(0), Examiner())
    for name, end in (("reset", sandboxes.reset), ("deleted", sandboxes.delete)):
        sandbox = sandboxes.create(name, options)
        for number in range(MANY):
            sandbox.journal.arrive(0, f"req_{number}", "GET", "/", None)
        end(sandbox)
        assert len(list(sandboxes.free())) > 2
        assert list(sandboxes.free()) == []


def test_an_ended_sandbox_leaves_memory_without_the_garbage_collector(emulator: EmulatorUnderTest) -> None:
    sandboxes = emulator.application.sandboxes
    sandboxes.observe(lambda _sandbox, _entry: None)
    key = emulator.told("POST", "/sandboxes", {"id": "other"})["env"]["IMAGE_WORKFLOW_API_KEY"]
    emulator.photograph(key)
    content = emulator.ask("GET", "/state", sandbox="other").body
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        for method, path, sent in (("PUT", "/state", content), ("DELETE", "", None)):
            emulator.get("/team", key)
            ended = ref(sandboxes.by_id["other"])
            assert emulator.ask(method, path, sandbox="other", content=sent).status < 300
            assert ended() is None
    finally:
        if is_enabled:
            gc.enable()

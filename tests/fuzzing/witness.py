"""Everything that a refused request must leave as it was: the sandboxes, and all state of each.

Left out is what tells of the requests themselves: the journal, and the number of the next Request-Id. Reads the state
as state files do, so that nothing is forgotten here that is remembered there.
"""

from typing import Any

from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.state import archive
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.state_files import parts_of

COUNTERS_OF_REQUESTS = ("req", "unrouted", "hold")


def everything(emulator: EmulatorUnderTest) -> dict[str, Any]:
    """Return all that the emulator knows, as plain data."""
    sandboxes = emulator.application.sandboxes
    return {
        "held_bytes": sandboxes.memory.held_bytes,
        "keys": sorted(
            key for one in sandboxes.by_id.values() for key in one.credentials if sandboxes.find_caller(key)
        ),
        "sandboxes": {name: _all_of(sandbox) for name, sandbox in sandboxes.by_id.items()},
    }


def _all_of(sandbox: Sandbox) -> dict[str, Any]:
    content = b"".join(archive.save(sandbox, sandbox.clock.now()))
    parts = parts_of(content)
    found: dict[str, Any] = parts.pop("head")
    del found["last_sequence"]
    found |= found.pop("state")
    found["rows"] = {f"{table}/{index}": row for table, rows in parts.items() for index, row in enumerate(rows)}
    for name in COUNTERS_OF_REQUESTS:
        found["counters"].pop(name, None)
    sizes = {key: len(picture.data or b"") for key, picture in sandbox.images.pictures.items()}
    return {**found, "sizes": sizes, "held": list(sandbox.held_admissions)}


def differences(before: dict[str, Any], after: dict[str, Any], where: str = "") -> list[str]:
    found = []
    for name in before.keys() | after.keys():
        one, other = before.get(name), after.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            found += differences(one, other, f"{where}/{name}")
        elif one != other:
            found.append(f"{where}/{name}: {str(one)[:200]} is now {str(other)[:200]}")
    return found

"""Fields of the service's data as JSON: instants as timestamps, all else as it is."""

from typing import Any

from msgspec import Struct, to_builtins

from emulator.kernel.timestamps import timestamp_or_none


def shown(data: Struct, *names: str) -> dict[str, Any]:
    """Return some fields of a value by their names; an instant is known by its name, which ends in `_at`."""
    return {
        name: timestamp_or_none(getattr(data, name)) if name.endswith("_at") else to_builtins(getattr(data, name))
        for name in names
    }

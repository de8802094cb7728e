"""The readings file that `drift --pin` writes: what is known of the real service."""

from collections.abc import Sequence
from typing import Any, Final

import yaml

from image_workflow_emulator.drift.verdicts import DecisionRow
from image_workflow_emulator.kernel.timestamps import format_timestamp

_HEAD: Final = (
    "# What is known of the real service."
    " Written by `image-workflow-emulator drift --pin`.\n"
)


def readings_file(rows: Sequence[DecisionRow], source: str) -> str:
    """Return the content of a readings file: readings, and the evidence for each.

    `source`: the name of the recording.
    """
    content = {
        "readings": {row.decision: row.reading for row in rows},
        "evidence": {row.decision: _evidence(row, source) for row in rows},
    }
    return _HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _evidence(row: DecisionRow, source: str) -> dict[str, Any]:
    return {
        "seen": row.seen,
        "of": row.of,
        "last": format_timestamp(row.last),
        "from": source,
    }

"""The coverage of the contract by all tests of a session, for `--image-workflow-coverage`.

Each sandbox adds its part before it is deleted. A worker of pytest-xdist hands what it
has to the process that started it, which writes the file.
"""

from pathlib import Path
from typing import Any, Final

import pytest

_COVERAGE: Final = pytest.StashKey[dict[str, Any]]()
_WORKER_OUTPUT: Final = "image_workflow_coverage"
"""Where a worker leaves its coverage."""


def add_coverage(config: pytest.Config, coverage: dict[str, Any]) -> None:
    """Add the coverage by the clients of a sandbox, or by all tests of a worker."""
    from image_workflow_emulator.examiner.coverage import merged

    documents = [coverage]
    before = config.stash.get(_COVERAGE, None)
    if before is not None:
        documents.insert(0, before)
    config.stash[_COVERAGE] = merged(documents)


def hand_over(config: pytest.Config, worker_output: dict[str, Any]) -> None:
    """Leave the coverage of a worker to the process that started it."""
    coverage = config.stash.get(_COVERAGE, None)
    worker_output[_WORKER_OUTPUT] = coverage


def take_over(config: pytest.Config, worker_output: dict[str, Any]) -> None:
    """Add the coverage that a worker has left."""
    coverage = worker_output.get(_WORKER_OUTPUT)
    if coverage is not None:
        add_coverage(config, coverage)


def write_coverage(config: pytest.Config, name: str) -> None:
    """Write the coverage to the file with this name, if any test has covered anything."""
    from image_workflow_emulator.cli.judges import coverage_text

    coverage = config.stash.get(_COVERAGE, None)
    if coverage is None:
        return
    file = Path(name)
    text = coverage_text(coverage, file.suffix)
    file.write_text(text, encoding="utf-8")

"""Which part of a journal belongs to the test that runs.

Tests may share a sandbox by a fixture of their own. The journal of such a sandbox has the
requests of earlier tests too, so its last sequence number is asked for before each test
that uses it. Requests that the fixture itself sends count as its first test's.
"""

from typing import TYPE_CHECKING, Final

import pytest

from image_workflow_emulator.pytest_plugin.fixtures import shared_sandboxes

if TYPE_CHECKING:
    from image_workflow_emulator.testing import Sandbox

_SANDBOXES: Final = pytest.StashKey[dict[str, "Sandbox"]]()
"""The sandboxes that tests have used so far, by the names of their fixtures."""
_STARTS: Final = pytest.StashKey[dict[str, int]]()
"""The last sequence numbers before a test, by the ids of sandboxes."""


def begin_test(item: pytest.Item) -> None:
    """Note where the journals end before a test. Raises EmulatorError."""
    sandboxes = item.config.stash.get(_SANDBOXES, {})
    starts = item.stash.setdefault(_STARTS, {})
    for fixture in getattr(item, "fixturenames", ()):
        sandbox = sandboxes.pop(fixture, None)
        if sandbox is None:
            continue
        last_sequence = _last_sequence(sandbox)
        if last_sequence is not None:
            starts[sandbox.id] = last_sequence
            sandboxes[fixture] = sandbox


def end_setup(item: pytest.Item) -> None:
    """Note which sandboxes a test uses, for the tests after it."""
    item.config.stash.setdefault(_SANDBOXES, {}).update(shared_sandboxes(item))


def start_of_test(item: pytest.Item, sandbox: "Sandbox") -> int:
    """Return the sequence number after which the requests of a test begin."""
    start = item.stash.get(_STARTS, {}).get(sandbox.id, 0)
    if start and sandbox.last_sequence < start:
        return 0  # the test has reset its sandbox, which counts anew
    return start


def _last_sequence(sandbox: "Sandbox") -> int | None:
    """Return the end of a journal; None for a sandbox that no longer exists."""
    from image_workflow_emulator.testing import EmulatorError

    try:
        return sandbox.last_sequence
    except EmulatorError as error:
        if error.code == "not_found":
            return None
        raise

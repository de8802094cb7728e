"""The sandboxes that a run of pytest makes, and whose each is.

A sandbox belongs to the fixture or the test that makes it, wherever the code does that:
in a fixture, whatever its value is, or in the body of a test. So `Emulator.sandbox` and
`Sandbox.delete` are wrapped while pytest runs.
"""

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, Final

import pytest
from msgspec import Struct

from image_workflow_emulator.testing import Emulator, Sandbox


class Owner(Struct, eq=False):
    """A test, or a fixture, which makes sandboxes."""

    node: pytest.Item | pytest.Collector
    """The test, or the node of a fixture's scope."""
    fixture: str = ""
    """The name of a fixture with a wider scope than a test; else empty."""

    @property
    def place(self) -> str:
        """The place of its sandboxes."""
        if self.fixture:
            return f"{self.node.nodeid}::{self.fixture}"
        return self.node.nodeid

    def serves(self, item: pytest.Item) -> bool:
        """Tell whether a test uses it, though it is a fixture that tests share."""
        fixtures: Collection[str] = getattr(item, "fixturenames", ())
        return self.fixture in fixtures and self.node in item.listchain()


class OpenSandbox(Struct, eq=False):
    """A sandbox that was begun, and has not ended."""

    sandbox: Sandbox
    owner: Owner


class Observer:
    """Tells of each sandbox that is made or deleted in this process. To be closed."""

    def __init__(
        self,
        begin: Callable[[Sandbox], None],
        end: Callable[[Sandbox], None],
    ) -> None:
        """`begin` is called after a sandbox was made, `end` before it is deleted."""
        self._patches: Final = pytest.MonkeyPatch()
        make = Emulator.sandbox
        delete = Sandbox.delete

        @wraps(make)
        def make_and_begin(emulator: Emulator, **options: Any) -> Sandbox:
            sandbox = make(emulator, **options)
            begin(sandbox)
            return sandbox

        @wraps(delete)
        def end_and_delete(sandbox: Sandbox) -> None:
            end(sandbox)
            delete(sandbox)

        self._patches.setattr(Emulator, "sandbox", make_and_begin)
        self._patches.setattr(Sandbox, "delete", end_and_delete)

    def close(self) -> None:
        """Observe no more."""
        self._patches.undo()

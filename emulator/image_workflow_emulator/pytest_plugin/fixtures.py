"""The sandboxes among the fixtures of a test."""

import sys
from typing import TYPE_CHECKING, Any

import pytest

from image_workflow_emulator.pytest_plugin.options import NAME

if TYPE_CHECKING:
    from image_workflow_emulator.testing import Sandbox


def sandboxes_of(item: pytest.Item) -> "dict[str, Sandbox]":
    """Return the sandboxes among the fixtures of a test, by the names of the fixtures."""
    module = sys.modules.get("image_workflow_emulator.testing.sandbox")
    if module is None:
        return {}
    values: dict[str, Any] = getattr(item, "funcargs", None) or {}
    # isinstance would ask a fixture that is a proxy for its class, and some refuse.
    return {
        name: value
        for name, value in values.items()
        if issubclass(type(value), module.Sandbox)
    }


def own_sandbox(item: pytest.Item) -> "Sandbox | None":
    """Return the sandbox of the fixture `image_workflow`, if the test takes it."""
    return sandboxes_of(item).get(NAME)


def shared_sandboxes(item: pytest.Item) -> "dict[str, Sandbox]":
    """Return the sandboxes that fixtures of the user's own make."""
    sandboxes = sandboxes_of(item)
    sandboxes.pop(NAME, None)
    return sandboxes

"""What all tests share: the emulator of a test, and other emulators where a test asks for them."""

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from image_workflow_emulator.documents.shipped import compile_documents
from tests.support.emulator_under_test import (
    EmulatorUnderTest,
    MakeEmulator,
    settings_of,
)

pytest_plugins = ["pytester"]
"""Runs pytest within a test: for tests/testing."""

# The same examples in every run; how long one takes says nothing on a machine that does other things too.
settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")


def pytest_configure(config: pytest.Config) -> None:
    _take_signals()
    if not hasattr(config, "workerinput"):
        # A thousand emulators read the contract: from its compiled form in a fraction of the time.
        with suppress(OSError):
            compile_documents()
    config.addinivalue_line(
        "markers",
        "emulator(clock, start, world, seed, rate_limits, ...): options of the test's emulator, by their names in "
        "image_workflow_emulator.settings; `clock` and `start` are texts, `world` is the text of a world file",
    )


@pytest.hookimpl(optionalhook=True)  # Unknown with `-p no:xdist`.
def pytest_xdist_auto_num_workers() -> int:
    """Run one more worker than there are processors: a third of the time tests wait."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Spare the collector what stays until the end: thousands of tests, and the contract."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _take_signals() -> None:
    """Let started programs take the signals that the parent of this process ignores, as `nohup` and shells in the
    background do.
    """
    for name in ("SIGINT", "SIGHUP", "SIGQUIT"):
        number = signal.Signals[name]
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(
                number,
                signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL,
            )


@pytest.fixture
def make_emulator(request: pytest.FixtureRequest) -> Iterator[MakeEmulator]:
    """Make emulators with options of their own; see the marker `emulator`."""

    def make(**options: Any) -> EmulatorUnderTest:
        folder = (
            request.getfixturevalue("tmp_path")
            if options.keys() & {"world", "scenario"}
            else Path()
        )
        return stack.enter_context(
            closing(EmulatorUnderTest(settings_of(folder, **options)))
        )

    with ExitStack() as stack:
        yield make


@pytest.fixture
def emulator(
    request: pytest.FixtureRequest,
    make_emulator: MakeEmulator,
) -> EmulatorUnderTest:
    """The test's emulator: manual clock, seed 0 and the built-in world, unless the marker `emulator` says otherwise."""
    marker = request.node.get_closest_marker("emulator")
    return make_emulator(**(marker.kwargs if marker else {}))


@pytest.fixture
def asset_id(emulator: EmulatorUnderTest) -> str:
    """The id of a small picture in the Library of Demo."""
    return emulator.assets(1)[0]

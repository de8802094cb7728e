"""A whole emulator: one that is started for a test, one that runs already, or one in this very process."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Self
from weakref import finalize

from image_workflow_emulator import DEFAULT_URL
from image_workflow_emulator.settings import OPTIONS
from image_workflow_emulator.testing.control_client import DEFAULT_SANDBOX, ControlClient, emulator_address
from image_workflow_emulator.testing.errors import NO_ANSWER, NOT_STARTED, EmulatorError, is_refusal
from image_workflow_emulator.testing.options import option_texts
from image_workflow_emulator.testing.sandbox import Sandbox

__tracebackhide__ = is_refusal

HEALTH_SECONDS: Final = 10.0
STOP_SECONDS: Final = 10.0

_LAUNCHER: Final = """\
import os, signal, sys, threading

def end_with_parent():
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=end_with_parent, daemon=True).start()
sys.path.append(sys.argv.pop(1))
for name in [name for name in os.environ if name.startswith("EMULATOR_")]:
    del os.environ[name]
from image_workflow_emulator.cli.main import main
sys.exit(main())
"""
"""Runs the command: its options alone count, not the environment's. Standard input ends with the process that
holds it.
"""


class Emulator:
    """A running emulator. As a context manager it is closed at the end: one that was started here stops then.

    `Emulator.start` makes one, `Emulator.connect` uses one that runs already, and `create_app(...).emulator` is one in
    this process.

        >>> emulator = create_app().emulator
        >>> with emulator.sandbox(id="checkout") as sandbox:
        ...     sandbox.key("iwe_demo_read")
        'iwe_demo_read_checkout'
    """

    def __init__(self, plane: ControlClient, close: Callable[[], None] = lambda: None) -> None:
        self._plane = plane.of(None)
        self._close = finalize(self, close)
        self.default = Sandbox(plane.of(DEFAULT_SANDBOX), DEFAULT_SANDBOX)
        """The sandbox that always exists."""

    @classmethod
    def start(cls, **options: Any) -> Self:
        """Start one in a process of its own, on a free port unless `port` is given. It ends with this process at the
        latest.

        `options` are those of `create_app`. The variables `EMULATOR_...` of the environment do not count.

        Raises TypeError for an unknown option, EmulatorError if it does not start; `detail` says why.

            >>> with Emulator.start(clock="manual") as emulator:
            ...     emulator.default.clock.mode
            'manual'
        """
        with option_texts({"port": 0, "access_log": False, **options}) as texts:
            url, stop = _start_server(texts)
        return cls(ControlClient(url, options.get("control_token")), stop)

    @classmethod
    def connect(cls, url: str, control_token: str | None = None) -> Self:
        """Use one that runs already. It goes on when this object is closed.

        `url`: its address, such as `http://127.0.0.1:8038`; a base URL that ends in `/v1` will do. `control_token`: the
        token that it was started with.

        Raises EmulatorError (`no_answer`) if none answers there.

            >>> with Emulator.start() as emulator:
            ...     Emulator.connect(f"{emulator.url}/v1").url == emulator.url
            True
        """
        try:
            plane = ControlClient(emulator_address(url), control_token)
        except ValueError:
            raise EmulatorError(NO_ANSWER, f"found the address {url!r}; expected one such as {DEFAULT_URL}") from None
        plane.health(HEALTH_SECONDS)
        return cls(plane)

    @property
    def url(self) -> str:
        """Its address, such as `http://127.0.0.1:8038`."""
        return self._plane.url

    def sandbox(self, **options: Any) -> Sandbox:
        """Make a sandbox. As a context manager it is deleted at the end.

        `options`: `id`, `seed`, `clock`, `start` (a timestamp or an aware datetime), `world` (a mapping or a YAML
        file), `scenario` (a name of the library, a mapping or a YAML file), `rate_limits`, `evolution`, and `readings`
        (a text as `--readings` takes it, a mapping by decision, or a readings file). What is not given is as the
        emulator was started.

        Raises EmulatorError for what cannot be used; of a bad file, `detail` has file, line and column.

            >>> with create_app().emulator.sandbox(clock="manual", scenario="rate-limited") as sandbox:
            ...     sandbox.scenario
            'rate-limited'
        """
        made = self._plane.create_sandbox(options)
        return Sandbox(self._plane.of(made["id"]), made["id"])

    def close(self) -> None:
        """Close it: an emulator that was started here stops. Raises nothing, also the second time."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Emulator at {self.url}>"


# A process of its own -------------------------------------------------------------------------------------------------


def _start_server(options: Mapping[str, str]) -> tuple[str, Callable[[], None]]:
    """Start `serve` with the texts of options, by their fields; when it is ready, return its address and what stops it.

    Raises EmulatorError if it does not start.
    """
    folder = str(Path(__file__).parents[2])
    arguments = [f"{option.flag}={options[option.field]}" for option in OPTIONS if option.field in options]
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-c", _LAUNCHER, folder, "serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,  # Ctrl-C is for the tests, which end it when they have cleaned up
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(b"ready "):
                return line.decode().removeprefix("ready ").rpartition("/")[0], partial(_stop, process)
        _stop(process)
        complaints.seek(0)
        text = complaints.read().decode(errors="replace").replace("image-workflow-emulator: ", "").strip()
    raise EmulatorError(NOT_STARTED, text or f"the emulator ended with status {process.returncode}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End it, and wait for its end."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    with process:  # which closes its streams and waits
        pass

"""A whole emulator: one that is started for a test, or one that runs already."""

from collections.abc import Callable
from typing import Any, Self
from weakref import finalize

from image_workflow_emulator import DEFAULT_URL
from image_workflow_emulator.client.control_client import (
    DEFAULT_SANDBOX,
    ControlClient,
    emulator_address,
)
from image_workflow_emulator.client.local_files import (
    NO_ANSWER,
    EmulatorError,
    is_refusal,
)
from image_workflow_emulator.testing.option_texts import option_texts
from image_workflow_emulator.testing.sandbox import Sandbox
from image_workflow_emulator.testing.server_process import start_server

__tracebackhide__ = is_refusal


class Emulator:
    """A running emulator.

    As a context manager it is closed at the end: one that was started here stops then.

    `Emulator.start` makes one, `Emulator.connect` uses one that runs already, and
    `create_app(...).emulator` is one in this process.

        >>> emulator = create_app().emulator
        >>> with emulator.sandbox(id="checkout") as sandbox:
        ...     sandbox.key("iwe_demo_read")
        'iwe_demo_read_checkout'
    """

    def __init__(
        self,
        plane: ControlClient,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._plane = plane.of(None)
        self._close = finalize(self, close)
        self.default = Sandbox(plane.of(DEFAULT_SANDBOX), DEFAULT_SANDBOX)
        """The sandbox that always exists."""

    @classmethod
    def start(cls, **options: Any) -> Self:
        """Start one in a process of its own, on a free port unless `port` is given.

        `options` are those of `create_app`. The variables `EMULATOR_...` of the
        environment do not count. It ends with this process at the latest.

        Raises TypeError for an unknown option, EmulatorError if it does not start;
        `detail` says why.

            >>> with Emulator.start(clock="manual") as emulator:
            ...     emulator.default.clock.mode
            'manual'
        """
        with option_texts({"port": 0, "access_log": False, **options}) as texts:
            server = start_server(texts)
        plane = ControlClient(server.url, options.get("control_token"))
        return cls(plane, server.stop)

    @classmethod
    def connect(cls, url: str, control_token: str | None = None) -> Self:
        """Use one that runs already. It goes on when this object is closed.

        `url`: its address, such as `http://127.0.0.1:8038`, or a base URL that ends in
        `/v1`. `control_token`: the token that it was started with.

        Raises EmulatorError (`no_answer`) if none answers there.

            >>> with Emulator.start() as emulator:
            ...     Emulator.connect(f"{emulator.url}/v1").url == emulator.url
            True
        """
        try:
            plane = ControlClient(emulator_address(url), control_token)
        except ValueError:
            detail = f"found the address {url!r}; expected one such as {DEFAULT_URL}"
            raise EmulatorError(NO_ANSWER, detail) from None
        plane.call("GET", "health", seconds=10)
        return cls(plane)

    @property
    def url(self) -> str:
        """Its address, such as `http://127.0.0.1:8038`."""
        return self._plane.url

    def sandbox(self, **options: Any) -> Sandbox:
        """Make a sandbox. As a context manager it is deleted at the end.

        `options`: `id`, `seed`, `clock`, `start` (a timestamp or an aware datetime),
        `world` (a mapping or a YAML file), `scenario` (a name of the library, a mapping
        or a YAML file), `rate_limits`, `evolution`, and `readings` (a text as
        `--readings` takes it, a mapping by decision, or a readings file). The emulator's
        own options count for what is left out, its scenario too, which begins anew in
        the sandbox. `scenario=None` means none.

        Raises EmulatorError for what cannot be used; of a bad file, `detail` has file,
        line and column. Raises ValueError for a datetime without a time zone.

            >>> emulator = create_app().emulator
            >>> with emulator.sandbox(clock="manual", scenario="rate-limited") as sandbox:
            ...     sandbox.scenario
            'rate-limited'
            >>> emulator = create_app(scenario="rate-limited").emulator
            >>> emulator.sandbox().scenario, emulator.sandbox(scenario=None).scenario
            ('rate-limited', None)
        """
        created = self._plane.create_sandbox(options)
        identifier = created["id"]
        return Sandbox(self._plane.of(identifier), identifier)

    def close(self) -> None:
        """Stop an emulator that was started here. Raises nothing, also the second time."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

"""What the tests of the page share: an emulator with its control plane, as the control plane's own tests have it."""

from tests.control.conftest import control

__all__ = ["control"]

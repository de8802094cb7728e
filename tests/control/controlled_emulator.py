"""The former name of the client of the tests."""

from tests.support.emulator_client import CONTROL, PROBLEM_MEMBERS, control_call
from tests.support.emulator_client import EmulatorUnderTest as ControlledEmulator

__all__ = ["CONTROL", "PROBLEM_MEMBERS", "ControlledEmulator", "control_call"]

"""The run of Schemathesis over an emulator with a fault: the one that PLANTED_FAULT names, if it names one.

Loaded by Schemathesis itself, in a process of its own.
"""

import os

import pytest

from tests.mutants.planted_faults import PLANTED_FAULTS

_name = os.environ.get("PLANTED_FAULT")
if _name is not None:
    PLANTED_FAULTS[_name](pytest.MonkeyPatch())

from tests.contract_runs import schemathesis_hooks  # noqa: E402  # it makes its emulator as it is imported

__all__ = ["schemathesis_hooks"]

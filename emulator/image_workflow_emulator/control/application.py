"""The control plane as one ASGI application. Where an operation lies and what it takes says its contract."""

from image_workflow_emulator.control import (
    about,
    clock,
    journal,
    sandboxes,
    scenarios,
    teams,
)
from image_workflow_emulator.control.dispatch import Control, ControlPlane


def create_control(plane: ControlPlane) -> Control:
    """Build the control plane of the functions that its rooms have."""
    modules = (about, clock, journal, sandboxes, scenarios, teams)
    return Control(
        plane,
        {
            name: function
            for module in modules
            for name, function in vars(module).items()
        },
    )

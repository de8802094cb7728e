"""The control plane as one ASGI application: the function of each operation of its contract.

Where an operation lies and what it takes says `contract/control-plane.yaml`; only the page has paths beside it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from image_workflow_emulator.control import about, clock, events, journal, sandboxes, scenarios, teams, work
from image_workflow_emulator.control.about import PAGES
from image_workflow_emulator.control.dispatch import Action, Control, ControlPlane, Handler, action_of, contract

_MODULES: Final = (about, clock, events, journal, sandboxes, scenarios, teams, work)


def create_control(plane: ControlPlane) -> Control:
    """Build the control plane."""
    return Control(plane, _actions())


def _actions() -> Iterator[tuple[str, Mapping[str, Action]]]:
    """Iterate over all paths, each with its actions by method.

    What concerns one sandbox acts on `default`, and below `/sandboxes/{sandbox}` on another.
    """
    for path, handler in PAGES.items():
        yield path, {"GET": Action(handler, query={"sandbox": "Sandbox"})}
    for path, item in contract()["paths"].items():
        operations = {method.upper(): operation for method, operation in item.items() if method != "servers"}
        actions = {method: action_of(_handler(one["operationId"]), one) for method, one in operations.items()}
        yield path, actions
        if "servers" not in item:
            yield f"/sandboxes/{{sandbox}}{path}", actions


def _handler(operation_id: str) -> Handler:
    """Return the function that has the name of an operation: `getClock` is answered by `get_clock`."""
    name = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", operation_id)
    function: Handler = next(vars(module)[name] for module in _MODULES if name in vars(module))
    return function

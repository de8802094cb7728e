"""How a request names or brings a scenario.

Must not know what becomes of a scenario.
"""

import re
from functools import partial
from typing import Any, Final

from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.plane import ControlPlane
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.document import document_of, read_document
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.scenario.scenario import Scenario
from image_workflow_emulator.scenario.scenario_reader import scenario_of
from image_workflow_emulator.scenario.world import WorldNames
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

_NAME: Final = re.compile(r"(problem:)?[^:]*")
"""What may be the name of a scenario, and is not the text of one."""
_TEXT: Final = "scenario"
"""The name, in complaints and explanations, of a scenario that came without the name of
a file."""


async def read_scenario_file(call: ControlCall, team_id: str) -> Scenario:
    """Read the scenario in the body for a Team, or for all of them.

    Raises:
        Problem: invalid_scenario; invalid_request for an empty body, and with status
            409 if the sandbox was reset meanwhile.
    """
    file = call.query["file"]
    if not call.body.strip() and file is None:
        detail = '(body): found nothing; expected a scenario or {"use": NAME}'
        raise Problem("invalid_request", detail)
    names = _usable_names(call.sandbox, team_id)
    read = partial(read_scenario, call.plane, call.body, names, file)
    scenario = await call.plane.read_aside(len(call.body), read)
    call.check_unchanged()
    return scenario


def read_scenario(
    plane: ControlPlane,
    value: Any,
    names: WorldNames,
    file: str | None,
) -> Scenario:
    """Read the scenario that a value names or is: a name of the library, a text, an
    object, or `{"use": NAME}`.

    `file` is what complaints and explanations call one that is whole; a text from a
    file is never a name.

    Raises:
        Problem: invalid_scenario.
    """
    is_name = isinstance(value, str) and file is None and _NAME.fullmatch(value)
    try:
        if is_name:
            return plane.library.load(value, names)
        if isinstance(value, str | bytes):
            document = read_document(value, file or _TEXT)
        else:
            document = document_of(value, file or _TEXT)
        library_name = _used_name(document.data)
        if library_name is not None:
            return plane.library.load(library_name, names)
        return scenario_of(document, plane.contract, names)
    except DocumentError as error:
        raise Problem("invalid_scenario", str(error)) from None


def _used_name(data: Any) -> str | None:
    """Return the name in `{"use": NAME}`; None for anything else."""
    if not isinstance(data, dict) or data.keys() != {"use"}:
        return None
    name = data["use"]
    if not isinstance(name, str):
        return None
    return name


def _usable_names(sandbox: Sandbox, team_id: str) -> WorldNames:
    """Return the names that a scenario can use here: Teams by name or id, keys in the
    world's or the sandbox's form.
    """
    name_by_id = {
        identifier: account.team.name
        for identifier, account in sandbox.accounts.items()
    }
    teams = {name: name for name in name_by_id.values()}
    teams.update(name_by_id)
    suffix = sandbox.key_of("")
    keys = {}
    for key, held in sandbox.credentials.items():
        team_name = name_by_id[held.credential.team_id]
        world_key = key.removesuffix(suffix)
        keys[key] = team_name
        keys[world_key] = team_name
    return WorldNames(teams, keys, only=name_by_id.get(team_id))

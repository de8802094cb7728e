"""Whether what the rows of a state file refer to is there."""

from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox.sandbox import EVERYONE, Sandbox


def check_references(sandbox: Sandbox) -> None:
    """Check that Teams and pictures that a sandbox refers to are there.

    Raises:
        ValueError: the first reference that leads nowhere.
    """
    for held in sandbox.credentials.values():
        _check_team(sandbox, held.credential.team_id, held.credential.id)
    for team_id in sandbox.playbooks:
        if team_id != EVERYONE:
            _check_team(sandbox, team_id, "a playbook")
    for collection in sandbox.store.collections().values():
        for resource in collection.items.values():
            if resource.team_id is not None:
                _check_team(sandbox, resource.team_id, resource.id)
    for asset_id in sandbox.store.assets.items:
        if asset_id not in sandbox.images.pictures:
            raise ValueError(f"{asset_id}: its picture is missing")


def _check_team(sandbox: Sandbox, team_id: str, owned: str) -> None:
    if team_id not in sandbox.accounts:
        raise ValueError(f"{owned}: the Team {excerpt(team_id)} is missing")

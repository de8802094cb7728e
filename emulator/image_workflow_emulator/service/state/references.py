"""Whether what the rows of a state file refer to is there."""

from collections.abc import Sequence

from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox.images import ImageStore, Picture
from image_workflow_emulator.service.sandbox.sandbox import EVERYONE, Sandbox


def check_references(sandbox: Sandbox) -> None:
    """Check that Teams and pictures that a sandbox refers to are there.

    Raises:
        ValueError: the first reference that leads nowhere.
    """
    for account in sandbox.credentials.values():
        credential = account.credential
        _check_team(sandbox, credential.team_id, credential.id)
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
    _check_inputs(sandbox.images)


def _check_team(
    sandbox: Sandbox,
    team_id: str,
    owned: str,
) -> None:
    if team_id not in sandbox.accounts:
        raise ValueError(f"{owned}: the Team {excerpt(team_id)} is missing")


def _check_inputs(images: ImageStore) -> None:
    """Check that each picture is made from earlier ones, so that no two need each
    other.

    Those of a picture that is developed may be gone.
    """
    earlier: set[str] = set()
    for key, picture in images.pictures.items():
        for source in _inputs_of(picture):
            may_be_gone = picture.data is not None
            is_gone = source not in images.pictures
            if source not in earlier and not (is_gone and may_be_gone):
                raise ValueError(f"{key}: {excerpt(source)} does not come before it")
        earlier.add(key)


def _inputs_of(picture: Picture) -> Sequence[str]:
    recipe = picture.content.recipe
    if recipe is None:
        return ()
    return recipe.inputs

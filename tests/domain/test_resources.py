"""What follows from a resource alone: the state of a credential, the pictures and the
owner of an ingredient, and what operations are called.
"""

import pytest

from image_workflow_emulator.domain.resources import (
    Credential,
    CredentialState,
    Operation,
    OperationOutcome,
    PhotographyStyle,
    Pose,
    Product,
    operation_admitting,
    operation_id,
)


@pytest.mark.parametrize(
    ("state", "now", "expected"),
    [
        ("active", 999, "active"),
        ("active", 1_000, "expired"),
        ("revoked", 999, "revoked"),
        ("revoked", 1_000, "revoked"),
    ],
)
def test_a_credential_expires_on_time_unless_it_is_revoked(
    state: CredentialState,
    now: int,
    expected: str,
) -> None:
    credential = Credential(
        id="cred_1",
        team_id="team_1",
        key="key",
        name="Main",
        prefix="ke",
        profile="full",
        expires_at=1_000,
        state=state,
    )

    state_then = credential.state_at(now)

    assert state_then == expected


def test_a_style_has_a_picture_for_each_of_its_sources() -> None:
    style = PhotographyStyle(
        id="sty_1",
        team_id="team_1",
        name="Soft",
        source_asset_ids=(),
        created_at=0,
        updated_at=0,
        version=2,
    )

    assert style.picture_keys == ["sty_1.2.0", "sty_1.2.1", "sty_1.2.2"]


@pytest.mark.parametrize(
    ("team_id", "scope"),
    [
        (None, "global"),
        ("team_1", "team"),
    ],
)
def test_an_ingredient_without_a_team_is_global(
    team_id: str | None,
    scope: str,
) -> None:
    pose = Pose(
        id="pos_1",
        team_id=team_id,
        name="Sitting",
        source_asset_ids=(),
        created_at=0,
        updated_at=0,
    )

    assert pose.scope == scope


def test_rendered_bytes_stay_with_their_resource() -> None:
    product = Product(
        id="prd_1",
        team_id="team_1",
        name="Chair",
        asset_ids=("ast_1",),
        primary_asset_id="ast_1",
        created_at=0,
        updated_at=0,
    )

    returned = product.keep(b"{}")

    assert returned == b"{}"
    assert product.kept_bytes == b"{}"


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        ("upscale", "createUpscaleGeneration"),
        ("product_photography", "createProductPhotographyGeneration"),
        ("fashion_model.update", "updateFashionModel"),
    ],
)
def test_work_is_admitted_by_the_operation_of_its_name(
    work: str,
    expected: str,
) -> None:
    assert operation_admitting(work) == expected


def test_an_operation_is_called_by_its_verb_and_its_subject() -> None:
    assert operation_id("update", "fashion_model") == "updateFashionModel"


def test_work_on_an_ingredient_names_its_kind() -> None:
    outcome = OperationOutcome(
        starts_at=1_000,
        finishes_at=4_000,
        failure=None,
        charge=1,
        source_keys=("ast_1",),
    )
    operation = Operation(
        id="op_1",
        team_id="team_1",
        request={},
        reserved_credits=1,
        created_at=0,
        updated_at=0,
        type="fashion_model.update",
        target_id="fmd_1",
        outcome=outcome,
    )

    assert operation.ingredient_kind == "fashion_model"

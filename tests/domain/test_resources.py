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
        "cred_1",
        "team_1",
        "key",
        "Main",
        "ke",
        "full",
        1_000,
        state,
    )

    assert credential.state_at(now) == expected


def test_a_style_has_a_picture_for_each_of_its_sources() -> None:
    style = PhotographyStyle("sty_1", "team_1", "Soft", (), 0, 0, version=2)

    assert style.picture_keys == ["sty_1.2.0", "sty_1.2.1", "sty_1.2.2"]


@pytest.mark.parametrize(("team_id", "scope"), [(None, "global"), ("team_1", "team")])
def test_an_ingredient_without_a_team_is_global(
    team_id: str | None,
    scope: str,
) -> None:
    pose = Pose("pos_1", team_id, "Sitting", (), 0, 0)

    assert pose.scope == scope


def test_rendered_bytes_stay_with_their_resource() -> None:
    product = Product("prd_1", "team_1", "Chair", ("ast_1",), "ast_1", 0, 0)

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
    outcome = OperationOutcome(1_000, 4_000, None, 1, ("ast_1",))
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

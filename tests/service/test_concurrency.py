"""The concurrency budget (section 8, D40, D42)."""

from tests.support.emulator_client import INGREDIENT_PATHS as PATHS
from tests.support.emulator_client import KINDS, OTHER, EmulatorUnderTest, ingredient_body

LIMITED = (429, "concurrency_limit_reached")


def used(emulator: EmulatorUnderTest) -> int:
    return int(emulator.get("/team").json["capabilities"]["api_concurrency"]["used"])


def test_twenty_pieces_of_work_are_let_in_and_the_next_is_not(emulator: EmulatorUnderTest, asset_id: str) -> None:
    statuses = [emulator.photograph(asset_ids=[asset_id]).status for _ in range(21)]
    assert (statuses, used(emulator)) == ([202] * 20 + [429], 20)


def test_the_number_of_outputs_does_not_matter(emulator: EmulatorUnderTest, asset_id: str) -> None:
    """D40."""
    emulator.photograph(asset_ids=[asset_id], image_count=6)
    emulator.photograph(asset_ids=[asset_id], output_mode="photoshoot")
    assert used(emulator) == 2


def test_operations_and_generations_share_the_budget(emulator: EmulatorUnderTest) -> None:
    emulator.set_team(concurrency_limit=4)
    assets = emulator.assets(3)
    for kind in KINDS:
        assert emulator.post(PATHS[kind], ingredient_body(kind, assets)).status == 202
    assert emulator.photograph(asset_ids=assets).outcome == LIMITED
    assert emulator.post("/photography-styles", ingredient_body("photography_style", assets)).outcome == LIMITED


def test_a_replacement_of_sources_needs_a_place_and_a_change_of_metadata_none(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    pose = emulator.author("pose")
    emulator.set_team(concurrency_limit=0)
    path = f"/poses/{pose['id']}"
    assert emulator.patch(path, {"asset_id": asset_id}).outcome == LIMITED
    assert emulator.patch(path, {"name": "New"}).status == 200


def test_synchronous_writes_need_no_place(emulator: EmulatorUnderTest) -> None:
    emulator.set_team(concurrency_limit=0)
    assert emulator.product(*emulator.assets(1))


def test_the_refusal_says_when_the_next_work_ends(emulator: EmulatorUnderTest, asset_id: str) -> None:
    """D42: the Operation ends after 5 s, the Generation after 6."""
    emulator.set_team(concurrency_limit=2)
    emulator.photograph(asset_ids=[asset_id])
    emulator.post("/poses", ingredient_body("pose", [asset_id]))
    waits = []
    for step in (0, 0.4, 0.6, 3.5):
        emulator.advance(step)
        waits.append(emulator.photograph(asset_ids=[asset_id]).retry_after)
    assert waits == [5, 5, 4, 1]


def test_a_request_sent_when_told_is_let_in(emulator: EmulatorUnderTest, asset_id: str) -> None:
    emulator.set_team(concurrency_limit=3)
    refusals = 0
    for _ in range(12):
        answer = emulator.photograph(asset_ids=[asset_id], image_count=2)
        if answer.status == 429:
            refusals += 1
            assert answer.retry_after is not None
            emulator.advance(answer.retry_after)
            assert emulator.photograph(asset_ids=[asset_id], image_count=2).status == 202
        emulator.advance(0.7)
    assert refusals


def test_a_place_is_free_to_the_millisecond_when_work_ends(emulator: EmulatorUnderTest, asset_id: str) -> None:
    """Of a Generation with its last output; and a refusal reserves nothing."""
    emulator.set_team(concurrency_limit=1)
    emulator.photograph(asset_ids=[asset_id], image_count=2)
    emulator.advance(7.999)
    refused = emulator.photograph(asset_ids=[asset_id])
    assert (refused.outcome, emulator.credits(), emulator.count("/generations")) == (LIMITED, 98, 1)
    emulator.advance(0.001)
    assert (used(emulator), emulator.photograph(asset_ids=[asset_id]).status) == (0, 202)


def test_a_limit_lowered_below_what_is_in_use_refuses_until_enough_has_ended(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    for seconds in (0, 2, 2):
        emulator.advance(seconds)
        emulator.photograph(asset_ids=[asset_id])
    emulator.set_team(concurrency_limit=1)
    outcomes = []
    for _ in range(3):
        answer = emulator.photograph(asset_ids=[asset_id])
        outcomes.append((answer.status, answer.retry_after))
        emulator.advance(answer.retry_after or 0)
    assert outcomes == [(429, 2), (429, 2), (429, 2)]
    assert emulator.photograph(asset_ids=[asset_id]).status == 202


def test_each_team_has_its_own_budget(emulator: EmulatorUnderTest, asset_id: str) -> None:
    emulator.set_team(concurrency_limit=1)
    emulator.photograph(asset_ids=[asset_id])
    assert emulator.photograph(key=OTHER).status == 202

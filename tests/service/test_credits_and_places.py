"""Credits and the concurrency budget, beside what the model says of both (sections 4 and 8, D29, D30, D37, D40, D42)."""

from tests.support.emulator_client import KINDS, EmulatorUnderTest, ingredient_body


def test_a_refusal_for_credits_says_what_is_there_and_needed_and_changes_nothing(emulator: EmulatorUnderTest) -> None:
    emulator.set_team(credits_available=1)
    detail = emulator.photograph(output_mode="photoshoot").json["detail"]
    assert ("1 Credit available" in detail, "at least 2" in detail) == (True, True)
    used = emulator.get("/team").json["capabilities"]["api_concurrency"]["used"]
    assert (emulator.credits(), used, emulator.items("/generations")) == (1, 0, [])


def test_the_ledger_tells_what_the_resources_tell(emulator: EmulatorUnderTest) -> None:
    """A day of mixed work: what its pieces were charged adds up to the balance."""
    works = [emulator.photograph(image_count=2).json, emulator.photograph(output_mode="photoshoot").json]
    for kind in KINDS:
        emulator.author(kind)
    done = [emulator.wait_for(work) for work in works] + emulator.items("/operations")
    ledger = emulator.account().ledger
    charged = sum(work["credits"]["charged"] for work in done)
    assert (charged, 0, 100 - charged) == (ledger.charged, ledger.reserved, emulator.credits())


def test_a_place_is_free_to_the_millisecond_when_work_ends(emulator: EmulatorUnderTest, asset_id: str) -> None:
    """Of a Generation with its last output; and a refusal reserves nothing."""
    emulator.set_team(concurrency_limit=1)
    emulator.photograph(asset_ids=[asset_id], image_count=2)
    emulator.advance(7.999)
    refused = emulator.photograph(asset_ids=[asset_id])
    assert (refused.outcome, emulator.credits(), emulator.count("/generations")) == (
        (429, "concurrency_limit_reached"),
        98,
        1,
    )
    emulator.advance(0.001)
    assert emulator.get("/team").json["capabilities"]["api_concurrency"]["used"] == 0
    assert emulator.photograph(asset_ids=[asset_id]).status == 202


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

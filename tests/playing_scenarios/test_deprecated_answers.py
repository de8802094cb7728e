"""The headers of deprecated behaviour (D43): on the true answers of a rule's operations, and nowhere else."""

from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import Answer, EmulatorUnderTest, Json

SUNSET_AND_LINK: Json = {"sunset": "2027-06-30T12:34:56.000Z", "link": "https://docs.example/migration"}
HEADERS = {"deprecation", "link", "sunset"}


def _notice(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name in HEADERS}


def test_a_notice_says_no_more_than_its_rule(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"operation": "listPoses"}, {"deprecated": {}})
    assert {"deprecation": "@1767225600"} == _notice(emulator.get("/poses"))


def test_a_replay_is_as_the_first_answer_was_with_or_without_a_notice(emulator: EmulatorUnderTest) -> None:
    (asset_id,) = emulator.assets(1)
    plain = emulator.send(upscale_call(asset_id, "k1"))
    emulator.rule({"operation": "*"}, {"deprecated": SUNSET_AND_LINK})
    marked = emulator.send(upscale_call(asset_id, "k2"))
    replays = [emulator.send(upscale_call(asset_id, key)) for key in ("k1", "k2")]
    assert [plain.raw_headers, marked.raw_headers] == [replay.raw_headers for replay in replays]
    assert [set(), HEADERS] == [set(_notice(replay)) for replay in replays]
    emulator.without_scenario()
    assert marked.raw_headers == emulator.send(upscale_call(asset_id, "k2")).raw_headers

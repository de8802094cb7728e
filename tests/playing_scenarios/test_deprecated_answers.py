"""The headers of deprecated behaviour (D43): on the true answers of a rule's operations, and nowhere else."""

import pytest

from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import Answer, EmulatorUnderTest, Json

SUNSET_AND_LINK: Json = {"sunset": "2027-06-30T12:34:56.000Z", "link": "https://docs.example/migration"}
HEADERS = {"deprecation", "link", "sunset"}


def _notice(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name in HEADERS}


@pytest.mark.parametrize(
    ("deprecated", "headers"),
    [
        ({}, {}),
        ({"sunset": SUNSET_AND_LINK["sunset"]}, {"sunset": "Wed, 30 Jun 2027 12:34:56 GMT"}),
        ({"link": SUNSET_AND_LINK["link"]}, {"link": '<https://docs.example/migration>; rel="deprecation"'}),
    ],
)
def test_a_notice_says_what_the_rule_says(
    service: EmulatorUnderTest, deprecated: Json, headers: dict[str, str]
) -> None:
    true = service.get("/poses")
    service.rule({"operation": "listPoses"}, {"deprecated": deprecated})
    answer = service.get("/poses")
    assert (200, true.body) == (answer.status, answer.body)
    assert {"deprecation": "@1767225600", **headers} == _notice(answer)
    assert {} == _notice(service.get("/backgrounds"))


def test_a_replay_is_as_the_first_answer_was_with_or_without_a_notice(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    plain = service.send(upscale_call(asset_id, "k1"))
    service.rule({"operation": "*"}, {"deprecated": SUNSET_AND_LINK})
    marked = service.send(upscale_call(asset_id, "k2"))
    replays = [service.send(upscale_call(asset_id, key)) for key in ("k1", "k2")]
    assert [plain.raw_headers, marked.raw_headers] == [replay.raw_headers for replay in replays]
    assert [set(), HEADERS] == [set(_notice(replay)) for replay in replays]
    service.without_scenario()
    assert marked.raw_headers == service.send(upscale_call(asset_id, "k2")).raw_headers


@pytest.mark.parametrize("target", ["/poses/none", "/poses?limit=0"])
def test_a_refusal_is_a_true_answer_too(service: EmulatorUnderTest, target: str) -> None:
    service.rule({"operation": ["getPose", "listPoses"]}, {"deprecated": SUNSET_AND_LINK})
    assert HEADERS == _notice(service.get(target)).keys()

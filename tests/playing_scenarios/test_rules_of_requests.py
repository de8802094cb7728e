"""Rules about requests, seen from outside: which requests they mean, when they are due, and what they count."""

from typing import Any

import pytest

from tests.support.emulator_client import FULL, OTHER, READ_ONLY, REVOKED, UPLOAD, Call, EmulatorUnderTest, Json

FAILS: Json = {"problem": "internal_error"}
TEAM: Json = {"operation": "getTeam"}


def _failures(emulator: EmulatorUnderTest, count: int, call: Call | None = None) -> list[int]:
    """Send a request some times, and return which of them failed, counted from 1."""
    return [number for number in range(1, count + 1) if emulator.send(call or Call("GET", "/team")).status == 500]


@pytest.mark.parametrize(
    ("failing", "nth"),
    [
        ([3], "3"),
        ([3], 3),
        ([2, 3, 4], "2-4"),
        ([5, 6, 7, 8, 9], ">= 5"),
        ([3, 6, 9], "every 3"),
        (list(range(1, 10)), "every 1"),
        ([], "10"),
    ],
)
def test_an_nth_counts_the_requests_that_match(emulator: EmulatorUnderTest, failing: list[int], nth: Any) -> None:
    emulator.rule(TEAM, FAILS, {"nth": nth})
    emulator.get("/assets")
    assert failing == _failures(emulator, 9)
    assert {"the rule": (9, len(failing))} == emulator.rules()


def test_a_window_is_open_from_its_beginning_to_before_its_end_on_the_emulators_clock(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.advance(1000)  # spans count from the scenario's beginning, not from the sandbox's
    emulator.rule(TEAM, FAILS, {"from": "30s", "until": "90s"})
    found = []
    for wait_seconds in (29.999, 0.001, 59.999, 0.001, 3600):
        emulator.advance(wait_seconds)
        found.append(emulator.get("/team").status)
    assert [200, 500, 500, 200, 200] == found
    assert {"the rule": (5, 2)} == emulator.rules()


def test_bursts_begin_with_the_scenario_and_come_again(emulator: EmulatorUnderTest) -> None:
    emulator.advance(1000)
    emulator.rule(TEAM, FAILS, {"every": "1m", "for": "10s"})
    found = [emulator.get("/team").status]
    for wait_seconds in (9.999, 0.001, 49.999, 0.001, 9.999, 0.001):
        emulator.advance(wait_seconds)
        found.append(emulator.get("/team").status)
    assert [500, 500, 200, 200, 500, 500, 200] == found


def test_chance_follows_from_the_seed(emulator: EmulatorUnderTest) -> None:
    def drawn(seed: int, probability: Any = 0.25) -> list[int]:
        name = f"seed-{seed}-{len(emulator.told('GET', '/sandboxes')['data'])}"
        scenario = {
            "scenario": "chance",
            "rules": [{"match": TEAM, "when": {"probability": probability}, "then": FAILS}],
        }
        emulator.told("POST", "/sandboxes", {"id": name, "seed": seed, "scenario": scenario, "rate_limits": False})
        return _failures(emulator, 200, Call("GET", "/team", key=f"{FULL}_{name}"))

    first = drawn(1)
    assert first == drawn(1) == drawn(1, "25%")
    assert first != drawn(2)
    assert 30 <= len(first) <= 70


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {"image_count": 2.0, "background": {"type": "color"}}),
        (500, {}),
        (202, {"image_count": 3}),
        (202, {"resolution": "1k"}),  # a default that the body does not name
    ],
)
def test_a_body_is_matched_by_a_subset_of_what_was_sent(
    emulator: EmulatorUnderTest, asset_id: str, status: int, body: Json
) -> None:
    emulator.rule({"operation": "createProductPhotographyGeneration", "body": body}, FAILS)
    red = {"type": "color", "color": "#ff0000"}
    assert status == emulator.photograph(asset_ids=[asset_id], image_count=2, background=red).status


def test_requests_that_never_come_so_far_are_not_counted(emulator: EmulatorUnderTest) -> None:
    emulator.set_team(requests_per_minute=2)
    emulator.rule({"operation": "*"}, FAILS, {"nth": 3})
    assert [401, 401] == [emulator.get("/team", key).status for key in ("iwe_unknown", REVOKED)]
    assert [404, 405] == [emulator.get("/nothing").status, emulator.post("/team", {}).status]
    assert [200, 200, 429] == [emulator.get("/team").status for _ in range(3)]
    assert {"the rule": (2, 0)} == emulator.rules()
    emulator.advance(60)
    assert 500 == emulator.get("/team").status


def test_an_injected_answer_names_its_rule(emulator: EmulatorUnderTest, asset_id: str) -> None:
    rules = [
        {"name": "Grüße at 5%", "match": TEAM, "then": FAILS},
        {"match": {"operation": "createUpload"}, "then": {"problem": "invalid_request"}},
    ]
    emulator.use({"scenario": "named", "rules": rules})
    assert "Gr%C3%BC%C3%9Fe at 5%25" == emulator.get("/team").headers["emulator-rule"]
    assert "rule 2" == emulator.post("/uploads", UPLOAD).headers["emulator-rule"]
    assert "emulator-rule" not in emulator.get(f"/assets/{asset_id}").headers
    assert "emulator-rule" not in emulator.get("/assets/none").headers


@pytest.mark.parametrize(
    ("match", "failing"),
    [
        ({"credential": READ_ONLY}, [2]),
        ({"query": {"limit": 5}}, [3, 4]),
        ({"query": {"limit": 5, "after": ""}}, []),
        ({"query": {"limit": 5, "source": "upload"}}, [4]),
        ({}, [1, 2, 3, 4]),
    ],
)
def test_a_rule_means_a_credential_or_a_query(emulator: EmulatorUnderTest, match: Json, failing: list[int]) -> None:
    emulator.rule({"operation": "listAssets"} | match, FAILS)
    calls = [
        Call("GET", "/assets"),
        Call("GET", "/assets", key=READ_ONLY),
        Call("GET", "/assets?limit=5"),
        Call("GET", "/assets?source=upload&limit=5"),
    ]
    statuses = [emulator.send(call).status for call in calls]
    assert [number for number, status in enumerate(statuses, start=1) if status == 500] == failing


@pytest.mark.parametrize(
    ("glob", "failing"),
    [
        ("order-*", ["order-1", "order-2"]),
        ("order-?", ["order-1", "order-2"]),
        ("*r*-?", ["order-1", "order-2", "cart-1"]),
        ("[o]rder-2", []),
        ("order", []),
        ("*-1*-1", []),
    ],
)
def test_a_rule_means_idempotency_keys_by_a_glob(emulator: EmulatorUnderTest, glob: str, failing: list[str]) -> None:
    emulator.rule({"idempotency_key": glob}, FAILS)
    keys = ["order-1", "order-2", "cart-1"]
    assert [key for key in keys if emulator.post("/uploads", UPLOAD, idempotency_key=key).status == 500] == failing


def test_a_resource_keeps_its_place_when_an_earlier_one_is_deleted_and_premade_ones_have_none(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    products = [emulator.product(asset_id)["id"] for _ in range(3)]
    emulator.rule({"operation": "getProduct", "resource": "second"}, FAILS)
    assert [emulator.get(f"/products/{product}").status for product in products] == [200, 500, 200]
    assert emulator.delete(f"/products/{products[0]}").status == 204
    assert [emulator.get(f"/products/{product}").status for product in products[1:]] == [500, 200]
    emulator.rule({"operation": "getPose", "resource": "first"}, FAILS)
    assert emulator.get(f"/poses/{emulator.premade('pose')['id']}").status == 200
    emulator.rule({"operation": "getProduct", "resource": products[2]}, FAILS)
    assert [emulator.get(f"/products/{product}").status for product in products[1:]] == [200, 500]


@pytest.mark.parametrize(
    ("per", "failing"), [(None, [2]), ("credential", [2, 4, 6]), ("team", [2, 6]), ("resource", [2])]
)
def test_an_nth_can_be_counted_for_each(emulator: EmulatorUnderTest, per: str | None, failing: list[int]) -> None:
    emulator.rule(TEAM, FAILS, {"nth": 2} | ({"per": per} if per else {}))
    keys = [FULL, FULL, READ_ONLY, READ_ONLY, OTHER, OTHER]
    statuses = [emulator.get("/team", key).status for key in keys]
    assert [number for number, status in enumerate(statuses, start=1) if status == 500] == failing
    assert emulator.rules() == {"the rule": (6, len(failing))}


def test_what_is_counted_for_each_is_kept_in_a_state_file(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"operation": "createUpload"}, FAILS, {"nth": 2, "per": "idempotency_key"})
    emulator.post("/uploads", UPLOAD, idempotency_key="a")
    saved = emulator.ask("GET", "/state").body
    assert emulator.ask("PUT", "/state", content=saved).status == 200
    emulator.rules()
    assert emulator.post("/uploads", UPLOAD, idempotency_key="b").status == 201
    assert emulator.rules() == {"the rule": (2, 0)}

"""What is the same for all operations: credentials, Idempotency-Keys, queries, the rate, and evolution (D68)."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.support.emulator_client import (
    EXPIRED,
    FULL,
    INVALID_INPUT,
    JSON,
    OTHER,
    REVOKED,
    UPLOAD,
    Call,
    EmulatorUnderTest,
    Json,
    MakeEmulator,
)
from tests.support.every_operation import CALLS, KEYED, LISTS, SUCCESSES, prepare
from tests.support.pictures import picture

UPDATES = [name for name in KEYED if name.startswith("update")]
MALFORMED = (400, "invalid_request")
FORM = {"Content-Type": "multipart/form-data; boundary=x"}


def asking(query: str) -> Callable[[Call], Json]:
    return lambda call: {"target": f"{call.target}?{query}"}


REFUSED: dict[
    str, tuple[Iterable[str], Callable[[Call], Json], tuple[int, str], str]
] = {
    "no credential": (
        CALLS,
        lambda _: {"key": None},
        (401, "authentication_required"),
        "",
    ),
    "an unknown one": (
        CALLS,
        lambda _: {"key": "iwe_unknown"},
        (401, "authentication_required"),
        "",
    ),
    "one that has expired": (
        CALLS,
        lambda _: {"key": EXPIRED},
        (401, "credential_expired"),
        "",
    ),
    "one that was revoked": (
        CALLS,
        lambda _: {"key": REVOKED},
        (401, "credential_revoked"),
        "",
    ),
    "no Idempotency-Key": (
        KEYED,
        lambda _: {"idempotency_key": None},
        MALFORMED,
        "Idempotency-Key",
    ),
    "a body with a read or a deletion (D44)": (
        CALLS.keys() - KEYED,
        lambda _: {"json": {}},
        MALFORMED,
        "",
    ),
    "no body": (KEYED, lambda _: {"json": None, "headers": JSON}, MALFORMED, ""),
    "a form": (KEYED, lambda _: {"headers": FORM}, MALFORMED, "Content-Type"),
    "a patch of nothing (D05)": (UPDATES, lambda _: {"json": {}}, INVALID_INPUT, ""),
    "an unknown field": (
        KEYED,
        lambda call: {"json": {**call.json, "colour": "red"}},
        INVALID_INPUT,
        "/colour",
    ),
    "an unknown query parameter (D02)": (
        CALLS,
        asking("colour=red"),
        MALFORMED,
        "colour",
    ),
    "a limit where no list is (D02)": (
        CALLS.keys() - LISTS,
        asking("limit=5"),
        MALFORMED,
        "limit",
    ),
}
"""For each mistake: the operations that refuse it, the change of their calls, the outcome, and a word of the detail."""


@pytest.mark.parametrize("wrong", REFUSED)
def test_it_is_refused_by_every_operation(
    emulator: EmulatorUnderTest, wrong: str
) -> None:
    operations, change, expected, told = REFUSED[wrong]
    things = prepare(emulator)
    for operation in operations:
        call = CALLS[operation](things)
        answer = emulator.send(dataclasses.replace(call, **change(call)))
        assert (answer.outcome, told in answer.json["detail"]) == (expected, True), (
            operation
        )


def test_an_absent_resource_is_not_found_whatever_its_id_looks_like(
    emulator: EmulatorUnderTest,
) -> None:
    """D07."""
    codes = {"assets": "asset_not_found", "products": "product_not_found"}
    for path in (
        "assets",
        "products",
        "photography-styles",
        "backgrounds",
        "poses",
        "fashion-models",
        "operations",
    ):
        for identifier in (
            "ast_0",
            "%00",
            "%F0%9F%98%80",
            "..",
            "a" * 3000,
            "%2e%2e",
            "~",
            "%ff",
            "a%2Fb",
            "a%2fb",
        ):
            answer = emulator.get(f"/{path}/{identifier}")
            assert answer.outcome == (404, codes.get(path, "not_found")), (
                path,
                identifier,
            )


def test_a_credential_is_bearer_in_any_case_spaces_and_a_key_and_nothing_else(
    emulator: EmulatorUnderTest,
) -> None:
    for value in (f"bearer {FULL}", f"BEARER   {FULL} "):
        assert (
            emulator.get("/team", None, headers={"Authorization": value}).status == 200
        )
    others = (
        f"Basic {FULL}",
        f"Bearer{FULL}",
        f"Bearer\t{FULL}",
        f"Bearer {FULL}x",
        f"Bearer {FULL}\xa0",
    )
    for value in ("", "Bearer", "Bearer ", FULL, *others, "Bearer \xff\xfe", "Token x"):
        answer = emulator.get("/team", None, headers={"Authorization": value})
        assert answer.outcome == (401, "authentication_required"), value


def test_two_credentials_are_none_and_two_idempotency_keys_are_refused(
    emulator: EmulatorUnderTest,
) -> None:
    """D48."""
    twice = [("Authorization", f"Bearer {FULL}"), ("Authorization", f"Bearer {FULL}")]
    assert emulator.get("/team", None, headers=twice).outcome == (
        401,
        "authentication_required",
    )
    twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "a")]
    assert emulator.post("/uploads", UPLOAD, headers=twice).outcome == MALFORMED


@pytest.mark.parametrize("key", ["", " ", "\t", "k" * 256])
def test_an_idempotency_key_has_1_to_255_characters(
    emulator: EmulatorUnderTest, key: str
) -> None:
    """D58."""
    assert emulator.post("/uploads", UPLOAD, idempotency_key=key).outcome == MALFORMED


@pytest.mark.parametrize(
    "target",
    [
        *(
            f"/assets?limit={limit}"
            for limit in (
                "0",
                "101",
                "-1",
                "1.0",
                "ten",
                "",
                "1e1",
                "+5",
                "%D9%A3",
                "9" * 400,
                " 5",
                "0x5",
                "null",
            )
        ),
        "/assets?source=both",
        "/assets?source=",
        "/assets?source=UPLOAD",
        "/poses?scope=mine",
        "/backgrounds?scope=",
        "/operations?status=pending",
        "/operations?type=pose.delete",
        "/generations?workflow=video",
        "/generations?status=done",
        "/generations?type=pose.create",
        "/assets?scope=team",
        "/products?source=upload",
        "/operations?workflow=upscale",
        "/assets?limit=5&limit=5",
        "/assets?limit=5&limit=6",
        "/assets?source=upload&source=upload",
        "/assets?Limit=5",
        "/assets?limit%5B%5D=5",
        "/assets?=5",
        "/assets?limit",
        "/assets?%ff=1",
        "/operations?target_id=%ff",
        "/operations?target_id=%ed%a0%80",
        "/team?x",
        "/assets?limit=5;source=upload",
    ],
)
def test_a_query_that_the_contract_does_not_have_is_refused(
    emulator: EmulatorUnderTest, target: str
) -> None:
    assert emulator.get(target).outcome == MALFORMED


@pytest.mark.parametrize(
    "target",
    ["/assets?", "/assets?&", "/assets?&limit=5&", "/team?", "/assets?lim%69t=5"],
)
def test_a_query_of_nothing_or_in_another_spelling_is_accepted(
    emulator: EmulatorUnderTest, target: str
) -> None:
    assert emulator.get(target).status == 200


@pytest.mark.emulator(readings="D74=lag")
def test_where_lists_are_late_premade_ingredients_are_in_them_at_once(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.product(*emulator.assets(1))
    assert [emulator.count(path) for path in ("/backgrounds", "/products")] == [4, 0]
    emulator.advance(2)
    assert emulator.count("/products") == 1


def statuses(emulator: EmulatorUnderTest, count: int, key: str = FULL) -> list[int]:
    return [emulator.get("/team", key).status for _ in range(count)]


@pytest.mark.parametrize(
    ("expected", "target", "key"),
    [
        (True, "/team", FULL),
        (True, "/assets/ast_1", FULL),
        (True, "/assets?limit=0", FULL),
        (False, "/nothing", FULL),
        (False, "/uploads", FULL),
        (False, "/team", None),
    ],
)
def test_which_requests_count(
    emulator: EmulatorUnderTest, expected: bool, target: str, key: str | None
) -> None:
    """D41."""
    emulator.get(target, key)
    assert ([200] * (119 if expected else 120) + [429]) == statuses(
        emulator, 120 if expected else 121
    )


def test_a_repeat_counts_as_a_request_and_bytes_do_not(
    emulator: EmulatorUnderTest,
) -> None:
    """D41."""
    url, session = (
        emulator.upload(picture())["url"],
        emulator.open_upload(len(picture())),
    )
    assert (
        emulator.fetch(url).status
        == emulator.send_bytes(session, picture()).status
        == 200
    )
    found = [
        emulator.post("/uploads", UPLOAD, idempotency_key="k").status
        for _ in range(118)
    ]
    assert [201] * 117 + [429] == found


def test_all_credentials_of_a_team_together_have_600_requests_a_minute(
    emulator: EmulatorUnderTest,
) -> None:
    keys = [emulator.new_key() for _ in range(6)]
    assert {200} == {
        status for key in keys[:5] for status in statuses(emulator, 119, key)
    }
    assert [200] * 5 + [429] == statuses(emulator, 6, keys[5])
    assert [429, 200] == [emulator.get("/team", key).status for key in (keys[0], OTHER)]


PHOTOGRAPHY = "/generations/product-photography"
REUSED = (422, "idempotency_key_reused")


def test_jpeg_on_a_transparent_background_is_png_and_the_same_request(
    emulator: EmulatorUnderTest,
) -> None:
    """D14."""
    body = {
        "output_mode": "single_shots",
        "asset_ids": emulator.assets(1),
        "background": {"type": "transparent"},
    }
    first = emulator.post(
        PHOTOGRAPHY, body | {"output_format": "jpeg"}, idempotency_key="k"
    )
    assert first.json["request"]["output_format"] == "png"
    assert (
        emulator.post(PHOTOGRAPHY, body | {"output_format": "png"}, idempotency_key="k")
        == first
    )


@pytest.mark.parametrize(
    "change",
    [
        {"custom_directions": ""},
        {"background": {"type": "color", "color": "#fff000"}},
        {"fashion_model": {"type": "none"}},
        {"asset_ids": [], "product_ids": ["prd_1"]},
        {"output_format": "webp"},
    ],
    ids=str,
)
def test_two_bodies_that_mean_something_else_are_not(
    emulator: EmulatorUnderTest, change: dict[str, Any]
) -> None:
    """D14: a key that is used again is refused whatever the second body refers to."""
    body: dict[str, Any] = {
        "output_mode": "single_shots",
        "asset_ids": emulator.assets(1),
    }
    body |= {"background": {"type": "transparent"}}
    assert emulator.post(PHOTOGRAPHY, body, idempotency_key="k").status == 202
    assert (
        emulator.post(PHOTOGRAPHY, body | change, idempotency_key="k").outcome == REUSED
    )


def test_spelling_the_order_of_keys_and_white_space_do_not_matter(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    assert emulator.post("/uplo%61ds", UPLOAD, idempotency_key="k") == first
    content = b'{\n  "size_bytes" : 5e0,\t"content_type":"image\\/png" }'
    assert (
        emulator.post("/uploads", content=content, headers=JSON, idempotency_key="k")
        == first
    )


def test_the_order_of_the_assets_of_a_product_is_a_part_of_its_intent(
    emulator: EmulatorUnderTest,
) -> None:
    """D14: it decides which is the next Primary (D22), and how a Generation packs them (D32)."""
    one, two, three = emulator.assets(3)
    body = {"name": "Shirt", "primary_asset_id": one}
    product = emulator.post(
        "/products", body | {"asset_ids": [one, two, three]}, idempotency_key="k"
    )
    assert (
        emulator.post(
            "/products", body | {"asset_ids": [one, three, two]}, idempotency_key="k"
        ).outcome
        == REUSED
    )
    path, change = f"/products/{product.id}", {"asset_ids": [one, two, three]}
    changed = emulator.patch(path, change, idempotency_key="p")
    assert (
        emulator.patch(
            path, {"asset_ids": [one, three, two]}, idempotency_key="p"
        ).outcome
        == REUSED
    )
    assert emulator.patch(path, change, idempotency_key="p") == changed


def test_no_key_is_forgotten_within_24_hours(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D58: new keys are refused instead."""
    for module in (
        "image_workflow_emulator.domain.idempotency",
        "image_workflow_emulator.service.sandbox.admission",
    ):
        monkeypatch.setattr(f"{module}.MAX_RECORDS", 2)
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k1")
    emulator.advance(60)
    emulator.post("/uploads", UPLOAD, idempotency_key="k2")
    refused = emulator.post("/uploads", UPLOAD, idempotency_key="k3")
    assert ((503, "service_unavailable"), str(24 * 3600 - 60)) == (
        refused.outcome,
        refused.headers["retry-after"],
    )
    assert emulator.post("/uploads", UPLOAD, idempotency_key="k1") == first
    emulator.advance(24 * 3600 - 60)
    assert emulator.post("/uploads", UPLOAD, idempotency_key="k3").status == 201


evolved = pytest.mark.emulator(evolution=True)


def objects(value: Any) -> list[Json]:
    """Every object of an answer, but for those that repeat or prescribe what a client sends."""
    if isinstance(value, list):
        return [found for item in value for found in objects(item)]
    if not isinstance(value, dict):
        return []
    prescribed = ("request", "headers", "body", "dimensions", "evolved")
    return [
        value,
        *(
            found
            for name, inner in value.items()
            if name not in prescribed
            for found in objects(inner)
        ),
    ]


@evolved
@pytest.mark.parametrize("operation", CALLS)
def test_every_object_of_every_operation_has_an_unknown_field(
    emulator: EmulatorUnderTest, operation: str
) -> None:
    answer = emulator.send(CALLS[operation](prepare(emulator)))
    assert answer.status == SUCCESSES[operation], answer.body
    assert all(
        "evolved" in found for found in objects(answer.json if answer.body else [])
    )
    assert "service-region" in answer.headers


def test_ids_and_cursors_are_longer_and_the_usual_list_has_a_second_page(
    make_emulator: MakeEmulator,
) -> None:
    plain, evolved = make_emulator(), make_emulator(evolution=True)
    (page, long_page) = (
        emulator.get("/poses?limit=1").json for emulator in (plain, evolved)
    )
    assert len(page["data"][0]["id"]) + 16 == len(long_page["data"][0]["id"])
    assert len(page["page"]["next_cursor"]) + 16 == len(
        long_page["page"]["next_cursor"]
    )
    first = evolved.get("/poses").json
    second = evolved.get(f"/poses?after={first['page']['next_cursor']}").json
    assert (25, 7) == (len(first["data"]), len(second["data"]))


@evolved
def test_a_state_file_keeps_it_and_a_sandbox_may_go_without(
    emulator: EmulatorUnderTest,
) -> None:
    state = emulator.ask("GET", "/state").body
    emulator.told("PUT", "/state", content=state)
    assert "evolved" in emulator.get("/team").json
    made = emulator.told("POST", "/sandboxes", {"id": "plain", "evolution": False})
    assert "evolved" not in emulator.get("/team", f"{FULL}_{made['id']}").json
    assert "evolved" in emulator.get("/team").json

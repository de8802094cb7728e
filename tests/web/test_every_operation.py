"""What is the same for all operations: credentials, Idempotency-Keys, queries, the
rate, and evolution (D68).
"""

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
    Json,
)
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator
from tests.support.every_operation import CALLS, KEYED, LISTS, SUCCESSES, prepare
from tests.support.pictures import picture

UPDATES = [name for name in KEYED if name.startswith("update")]
MALFORMED = (400, "invalid_request")
UNKNOWN_KEY = (401, "authentication_required")
UNAVAILABLE = (503, "service_unavailable")
FORM = {"Content-Type": "multipart/form-data; boundary=x"}


def asking(query: str) -> Callable[[Call], Json]:
    return lambda call: {"target": f"{call.target}?{query}"}


REFUSED: dict[
    str, tuple[Iterable[str], Callable[[Call], Json], tuple[int, str], str]
] = {
    "no credential": (CALLS, lambda _: {"key": None}, UNKNOWN_KEY, ""),
    "an unknown one": (CALLS, lambda _: {"key": "iwe_unknown"}, UNKNOWN_KEY, ""),
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
"""For each mistake: the operations that refuse it, the change of their calls, the
outcome, and a word of the detail."""


@pytest.mark.parametrize("wrong", REFUSED)
def test_it_is_refused_by_every_operation(
    emulator: EmulatorUnderTest,
    wrong: str,
) -> None:
    operations, change, outcome, word = REFUSED[wrong]
    things = prepare(emulator)
    for operation in operations:
        call = CALLS[operation](things)

        answer = emulator.send(dataclasses.replace(call, **change(call)))

        assert answer.outcome == outcome, operation
        assert word in answer.json["detail"], operation


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("assets", "asset_not_found"),
        ("products", "product_not_found"),
        ("photography-styles", "not_found"),
        ("backgrounds", "not_found"),
        ("poses", "not_found"),
        ("fashion-models", "not_found"),
        ("operations", "not_found"),
    ],
)
def test_an_absent_resource_is_not_found_whatever_its_id_looks_like(
    emulator: EmulatorUnderTest,
    path: str,
    code: str,
) -> None:
    """D07."""
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

        assert answer.status == 404, identifier
        assert answer.json["code"] == code, identifier


@pytest.mark.parametrize("value", [f"bearer {FULL}", f"BEARER   {FULL} "])
def test_a_credential_is_bearer_in_any_case_spaces_and_a_key(
    emulator: EmulatorUnderTest,
    value: str,
) -> None:
    answer = emulator.get("/team", None, headers={"Authorization": value})

    assert answer.status == 200


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        FULL,
        f"Basic {FULL}",
        f"Bearer{FULL}",
        f"Bearer\t{FULL}",
        f"Bearer {FULL}x",
        f"Bearer {FULL}\xa0",
        "Bearer \xff\xfe",
        "Token x",
    ],
)
def test_any_other_credential_is_unknown(
    emulator: EmulatorUnderTest,
    value: str,
) -> None:
    answer = emulator.get("/team", None, headers={"Authorization": value})

    assert answer.outcome == UNKNOWN_KEY


def test_two_credentials_are_none(emulator: EmulatorUnderTest) -> None:
    """D48."""
    headers = [("Authorization", f"Bearer {FULL}")] * 2

    answer = emulator.get("/team", None, headers=headers)

    assert answer.outcome == UNKNOWN_KEY


def test_two_idempotency_keys_are_refused(emulator: EmulatorUnderTest) -> None:
    headers = [("Idempotency-Key", "a")] * 2

    answer = emulator.post("/uploads", UPLOAD, headers=headers)

    assert answer.outcome == MALFORMED


@pytest.mark.parametrize("key", ["", " ", "\t", "k" * 256])
def test_an_idempotency_key_has_1_to_255_characters(
    emulator: EmulatorUnderTest,
    key: str,
) -> None:
    """D58."""
    answer = emulator.post("/uploads", UPLOAD, idempotency_key=key)

    assert answer.outcome == MALFORMED


@pytest.mark.parametrize(
    "limit",
    [
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
    ],
)
def test_a_limit_is_a_number_from_1_to_100(
    emulator: EmulatorUnderTest,
    limit: str,
) -> None:
    """D02."""
    answer = emulator.get(f"/assets?limit={limit}")

    assert answer.outcome == MALFORMED


@pytest.mark.parametrize(
    "target",
    [
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
    emulator: EmulatorUnderTest,
    target: str,
) -> None:
    assert emulator.get(target).outcome == MALFORMED


@pytest.mark.parametrize(
    "target",
    ["/assets?", "/assets?&", "/assets?&limit=5&", "/team?", "/assets?lim%69t=5"],
)
def test_a_query_of_nothing_or_in_another_spelling_is_accepted(
    emulator: EmulatorUnderTest,
    target: str,
) -> None:
    assert emulator.get(target).status == 200


@pytest.mark.emulator(readings="D74=lag")
def test_where_lists_are_late_premade_ingredients_are_in_them_at_once(
    emulator: EmulatorUnderTest,
) -> None:
    assert emulator.count("/backgrounds") == 4
    assert emulator.count("/backgrounds?scope=global") == 4


@pytest.mark.emulator(readings="D74=lag")
def test_where_lists_are_late_a_product_is_in_them_after_two_seconds(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.product(*emulator.assets(1))
    at_once = emulator.count("/products")

    emulator.advance(2)

    assert at_once == 0
    assert emulator.count("/products") == 1


def statuses(
    emulator: EmulatorUnderTest,
    count: int,
    key: str = FULL,
) -> list[int]:
    return [emulator.get("/team", key).status for _ in range(count)]


@pytest.mark.parametrize("target", ["/team", "/assets/ast_1", "/assets?limit=0"])
def test_every_request_with_a_valid_key_to_an_operation_counts(
    emulator: EmulatorUnderTest,
    target: str,
) -> None:
    """D41."""
    emulator.get(target)

    assert statuses(emulator, 120) == [200] * 119 + [429]


@pytest.mark.parametrize(
    ("target", "key"),
    [("/nothing", FULL), ("/uploads", FULL), ("/team", None)],
)
def test_a_request_to_no_operation_or_without_a_key_does_not_count(
    emulator: EmulatorUnderTest,
    target: str,
    key: str | None,
) -> None:
    """D41."""
    emulator.get(target, key)

    assert statuses(emulator, 121) == [200] * 120 + [429]


def test_a_repeat_counts_as_a_request(emulator: EmulatorUnderTest) -> None:
    """D41."""
    answers = [
        emulator.post("/uploads", UPLOAD, idempotency_key="k") for _ in range(121)
    ]

    assert [answer.status for answer in answers] == [201] * 120 + [429]


def test_bytes_do_not_count_as_requests(emulator: EmulatorUnderTest) -> None:
    """D41. The upload of the Asset and the new session are three requests."""
    url = emulator.upload(picture())["url"]
    session = emulator.open_upload(len(picture()))

    emulator.fetch(url)
    emulator.send_bytes(session, picture())

    assert statuses(emulator, 118) == [200] * 117 + [429]


def test_all_credentials_of_a_team_together_have_600_requests_a_minute(
    emulator: EmulatorUnderTest,
) -> None:
    *other_keys, last_key = [emulator.new_key() for _ in range(6)]
    for key in other_keys:
        assert set(statuses(emulator, 119, key)) == {200}

    of_the_last_key = statuses(emulator, 6, last_key)

    assert of_the_last_key == [200] * 5 + [429]
    assert emulator.get("/team", other_keys[0]).status == 429
    assert emulator.get("/team", OTHER).status == 200


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
    as_jpeg = body | {"output_format": "jpeg"}
    as_png = body | {"output_format": "png"}

    first = emulator.post(PHOTOGRAPHY, as_jpeg, idempotency_key="k")
    second = emulator.post(PHOTOGRAPHY, as_png, idempotency_key="k")

    assert first.json["request"]["output_format"] == "png"
    assert second == first


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
    emulator: EmulatorUnderTest,
    change: dict[str, Any],
) -> None:
    """D14: a key that is used again is refused whatever the second body refers to."""
    body: dict[str, Any] = {
        "output_mode": "single_shots",
        "asset_ids": emulator.assets(1),
        "background": {"type": "transparent"},
    }

    first = emulator.post(PHOTOGRAPHY, body, idempotency_key="k")
    second = emulator.post(PHOTOGRAPHY, body | change, idempotency_key="k")

    assert first.status == 202
    assert second.outcome == REUSED


def test_spelling_the_order_of_keys_and_white_space_do_not_matter(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    content = b'{\n  "size_bytes" : 5e0,\t"content_type":"image\\/png" }'

    escaped_path = emulator.post("/uplo%61ds", UPLOAD, idempotency_key="k")
    spaced_body = emulator.post(
        "/uploads",
        content=content,
        headers=JSON,
        idempotency_key="k",
    )

    assert escaped_path == first
    assert spaced_body == first


def test_the_order_of_the_assets_of_a_new_product_is_a_part_of_its_intent(
    emulator: EmulatorUnderTest,
) -> None:
    """D14: it decides which is the next Primary (D22), and how a Generation packs them
    (D32).
    """
    one, two, three = emulator.assets(3)
    body = {"name": "Shirt", "primary_asset_id": one, "asset_ids": [one, two, three]}
    in_other_order = body | {"asset_ids": [one, three, two]}

    first = emulator.post("/products", body, idempotency_key="k")
    second = emulator.post("/products", in_other_order, idempotency_key="k")

    assert first.status == 201
    assert second.outcome == REUSED


def test_the_order_of_the_assets_is_a_part_of_the_intent_of_a_change(
    emulator: EmulatorUnderTest,
) -> None:
    """D14."""
    one, two, three = emulator.assets(3)
    path = f"/products/{emulator.product(one)['id']}"
    change = {"asset_ids": [one, two, three]}
    in_other_order = {"asset_ids": [one, three, two]}

    first = emulator.patch(path, change, idempotency_key="k")
    second = emulator.patch(path, in_other_order, idempotency_key="k")
    replay = emulator.patch(path, change, idempotency_key="k")

    assert first.status == 200
    assert second.outcome == REUSED
    assert replay == first


def test_no_key_is_forgotten_within_24_hours(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
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
    replay = emulator.post("/uploads", UPLOAD, idempotency_key="k1")
    emulator.advance(24 * 3600 - 60)
    accepted = emulator.post("/uploads", UPLOAD, idempotency_key="k3")

    assert refused.outcome == UNAVAILABLE
    assert refused.retry_after == 24 * 3600 - 60
    assert replay == first
    assert accepted.status == 201


evolved = pytest.mark.emulator(evolution=True)


def objects(value: Any) -> list[Json]:
    """Every object of an answer, but for those that repeat or prescribe what a client
    sends.
    """
    inner_values: list[Any] = []
    every_object: list[Json] = []
    if isinstance(value, list):
        inner_values = value
    elif isinstance(value, dict):
        every_object.append(value)
        prescribed = ("request", "headers", "body", "dimensions", "evolved")
        inner_values = [value[name] for name in value if name not in prescribed]
    for inner in inner_values:
        every_object += objects(inner)
    return every_object


@evolved
@pytest.mark.parametrize("operation", CALLS)
def test_every_object_of_every_operation_has_an_unknown_field(
    emulator: EmulatorUnderTest,
    operation: str,
) -> None:
    call = CALLS[operation](prepare(emulator))

    answer = emulator.send(call)

    assert answer.status == SUCCESSES[operation], answer.body
    assert "service-region" in answer.headers
    if answer.body:
        for each_object in objects(answer.json):
            assert "evolved" in each_object


def test_ids_and_cursors_are_longer_with_evolution(make_emulator: MakeEmulator) -> None:
    plain = make_emulator()
    evolved = make_emulator(evolution=True)

    page = plain.get("/poses?limit=1").json
    long_page = evolved.get("/poses?limit=1").json

    identifier = page["data"][0]["id"]
    cursor = page["page"]["next_cursor"]
    assert len(long_page["data"][0]["id"]) == len(identifier) + 16
    assert len(long_page["page"]["next_cursor"]) == len(cursor) + 16


@evolved
def test_the_usual_list_of_ingredients_has_a_second_page_with_evolution(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.get("/poses").json

    second = emulator.get(f"/poses?after={first['page']['next_cursor']}").json

    assert len(first["data"]) == 25
    assert len(second["data"]) == 7


@evolved
def test_a_state_file_keeps_evolution(emulator: EmulatorUnderTest) -> None:
    state = emulator.ask("GET", "/state").body

    emulator.told("PUT", "/state", content=state)

    assert "evolved" in emulator.get("/team").json


@evolved
def test_a_sandbox_may_be_without_evolution(emulator: EmulatorUnderTest) -> None:
    emulator.told("POST", "/sandboxes", {"id": "plain", "evolution": False})

    assert "evolved" not in emulator.get("/team", f"{FULL}_plain").json
    assert "evolved" in emulator.get("/team").json

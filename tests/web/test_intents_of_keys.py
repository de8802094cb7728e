"""Whether a body written in another way is the same request to an Idempotency-Key
(D14).
"""

import pytest

from tests.support.emulator_client import UPLOAD, Json
from tests.support.emulator_under_test import EmulatorUnderTest

AS_SENT = pytest.mark.emulator(readings="D14=as-sent")
OTHER_ORDER: Json = {"size_bytes": 5, "content_type": "image/png"}
"""The body `UPLOAD` with its fields in another order."""


def test_a_body_in_another_order_is_the_same_request(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")

    again = emulator.post("/uploads", OTHER_ORDER, idempotency_key="k")

    assert again.body == first.body


@AS_SENT
def test_by_one_reading_a_body_in_another_order_is_another_request(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.post("/uploads", UPLOAD, idempotency_key="k")

    again = emulator.post("/uploads", OTHER_ORDER, idempotency_key="k")

    assert again.status == 422
    assert again.code == "idempotency_key_reused"


@AS_SENT
def test_by_that_reading_a_body_that_is_sent_again_is_the_same_request(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")

    again = emulator.post("/uploads", UPLOAD, idempotency_key="k")

    assert again.body == first.body

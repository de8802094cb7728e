"""Recorded clients that more than one file of tests judges."""

import pytest

from tests.drift.recorded_service import PHOTOGRAPHY, RecordedService
from tests.drift.tour import photoshoot_of


@pytest.fixture
def paid_twice() -> RecordedService:
    """A client that orders under a new key after a 500 that hid a success."""
    service = RecordedService()
    order = photoshoot_of(service.upload().json["id"])
    service.play(
        {
            "match": {"operation": PHOTOGRAPHY},
            "when": {"nth": 1},
            "then": {"problem": "internal_error", "at": "after_commit"},
        }
    )
    service.call(PHOTOGRAPHY, order, key="one")
    service.finished(service.call(PHOTOGRAPHY, order, key="two"))
    return service

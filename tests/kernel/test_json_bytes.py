"""JSON as it is kept."""

import tracemalloc

from image_workflow_emulator.kernel.json_bytes import json_bytes


def test_kept_json_takes_no_more_room_than_it_needs() -> None:
    value = {"name": "x" * 300}
    tracemalloc.start()
    try:
        kept = [json_bytes(value) for _ in range(100)]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 100 == kept.count(b'{"name":"' + b"x" * 300 + b'"}')
    assert held < 100 * 500

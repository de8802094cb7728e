"""What a served process does about garbage: a collection is never long for what has lived long."""

from tests.support.served import run_script

COLLECT = """
import gc
from emulator.server.garbage import collect_with_small_pauses
collect_with_small_pauses()
frozen = gc.get_freeze_count()
kept = [[number] for number in range(1000)]
print(gc.get_freeze_count() - frozen >= 1000)
gc.collect(0)
print(gc.get_freeze_count() - frozen >= 1000)
"""


def test_what_a_collection_has_found_alive_is_not_looked_at_again() -> None:
    assert run_script(COLLECT).split() == ["False", "True"]

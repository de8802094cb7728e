"""Large blocks of memory: they go back to the system."""

import platform

import pytest

from tests.support.served import run_script

FREE_LARGE_BLOCKS = """
from image_workflow_emulator.imaging.memory import give_back_large_blocks

give_back_large_blocks()
block = b"x" * (30 << 20)
del block  # glibc by itself would keep what is smaller from now on
blocks = [b"x" * size_bytes for _ in range(10) for size_bytes in (20 << 20, 100 << 10)]
del blocks[::2]
print(int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries decide by themselves")
def test_freed_blocks_between_small_ones_go_back_to_the_system() -> None:
    assert int(run_script(FREE_LARGE_BLOCKS)) < 60

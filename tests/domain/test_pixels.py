"""Pixel sizes (D35)."""

import pytest

from emulator.domain.pixels import output_size, reaches, size_of_ratio

SIZES = {
    "1:1": ((1024, 1024), (2048, 2048), (4096, 4096)),
    "21:9": ((1024, 438), (2048, 878), (4096, 1756)),
    "16:9": ((1024, 576), (2048, 1152), (4096, 2304)),
    "9:16": ((576, 1024), (1152, 2048), (2304, 4096)),
    "4:3": ((1024, 768), (2048, 1536), (4096, 3072)),
    "3:4": ((768, 1024), (1536, 2048), (3072, 4096)),
    "3:2": ((1024, 682), (2048, 1366), (4096, 2730)),
    "2:3": ((682, 1024), (1366, 2048), (2730, 4096)),
    "5:4": ((1024, 820), (2048, 1638), (4096, 3276)),
    "4:5": ((820, 1024), (1638, 2048), (3276, 4096)),
}


@pytest.mark.parametrize("ratio", SIZES)
def test_an_output_has_the_longest_edge_of_its_resolution_and_the_nearest_even_other(ratio: str) -> None:
    assert SIZES[ratio] == tuple(output_size(ratio, resolution) for resolution in ("1k", "2k", "4k"))


@pytest.mark.parametrize(
    ("expected", "size", "target"),
    [
        ((2048, 1366), (24, 16), "2k"),
        ((1366, 2048), (16, 24), "2k"),
        ((4096, 2), (10_000, 1), "4k"),
        ((2048, 2048), (1, 1), "2k"),
    ],
)
def test_an_upscale_keeps_the_proportions_of_its_asset(
    expected: tuple[int, int], size: tuple[int, int], target: str
) -> None:
    assert expected == size_of_ratio(*size, target)


@pytest.mark.parametrize(
    ("expected", "size", "target"),
    [
        (False, (2047, 2047), "2k"), (True, (2048, 1), "2k"), (True, (1, 2048), "2k"), (True, (4096, 100), "2k"),
        (False, (4095, 4095), "4k"), (True, (4096, 4096), "4k"),
    ],
)  # fmt: skip
def test_the_longest_edge_decides_whether_a_target_is_reached(
    expected: bool, size: tuple[int, int], target: str
) -> None:
    assert reaches(*size, target) is expected

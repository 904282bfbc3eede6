"""Philox of the array library's own integers, against NumPy's generator."""

from __future__ import annotations

import numpy as np
import pytest

from agog_kernels_xp.random.philox import philox


@pytest.mark.parametrize("count", [0, 1, 4, 5, 1000])
@pytest.mark.parametrize("key", [(0, 0, 0), (1, 2, 3), (2**64 - 1, 2**63, 2**32 - 2), (7, 8, 2**64 - 2)])
def test_bits_are_those_of_numpy(key: tuple[int, int, int], count: int) -> None:
    first, second, counter = key
    generator = np.random.Philox(
        key=np.array([first, second], np.uint64), counter=np.array([counter, 0, 0, 0], np.uint64)
    )
    np.testing.assert_array_equal(philox(np, key, count), generator.random_raw(count))

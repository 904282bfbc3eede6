"""Where arrays of no values and buffers lie: layouts are NumPy's, and what is remembered of them keeps no memory."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from agog_cpu_executor.planning.places import Buffer, pack
from agog_cpu_executor.program import layouts


@pytest.mark.parametrize("seed", range(20))
def test_results_have_the_strides_that_numpy_gives_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, 4, random.integers(0, 4)).tolist())
    operands = []
    for _ in range(2):
        axes = random.permutation(len(shape))
        whole = np.ones([shape[axis] for axis in axes], "float32").transpose(np.argsort(axes))
        operands.append(whole[tuple(slice(None, None, int(step)) for step in random.choice([1, -1], len(shape)))])
    for _ in range(2):  # it remembers them
        made = layouts.result(np.dtype("float32"), *operands)
        assert (made.shape, layouts.are_equal(made, np.asarray(np.add(*operands)))) == (shape, True), seed


def test_an_array_is_not_kept_by_what_is_remembered_of_smaller_ones() -> None:
    size = layouts._shared[0].size + 1
    tracemalloc.start()
    try:
        for more in range(1, 5):
            layouts.of("uint8", (size + more * 1_000_000,))
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < size + 5_000_000


@pytest.mark.parametrize("seed", range(20))
def test_buffers_of_one_time_do_not_overlap(seed: int) -> None:
    random = np.random.default_rng(seed)
    buffers = []
    for _ in range(40):
        birth = int(random.integers(30))
        buffers.append(Buffer(int(random.integers(1, 9)) * 64, birth, birth + int(random.integers(8))))
    size = pack(buffers)
    for place in range(40):
        here = sorted([b for b in buffers if b.birth <= place <= b.death], key=lambda b: b.offset)
        assert all(a.offset + a.size <= b.offset for a, b in pairwise(here)), seed
        assert all(b.offset + b.size <= size for b in here), seed
    busiest = max(sum(b.size for b in buffers if b.birth <= place <= b.death) for place in range(40))
    assert busiest <= size <= 1.5 * busiest, seed

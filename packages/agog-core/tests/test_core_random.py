"""Seeds, counters, and the numbers of random ops against an independent Philox."""

from __future__ import annotations

import contextvars
import json
import math
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import random
from agog_core.errors import InvalidArgumentError
from agog_testing import says

MASK = 2**64 - 1


def philox(counter: int, key: tuple[int, int]) -> list[int]:
    """One block of Philox4x64-10, as the paper states it (Salmon et al., SC 2011, section 3.3)."""
    words = [(counter >> (64 * n)) & MASK for n in range(4)]
    k0, k1 = key
    for _ in range(10):
        p0, p1 = words[0] * 0xD2E7470EE14C6C93, words[2] * 0xCA5A826395121157
        words = [(p1 >> 64) ^ words[1] ^ k0, p1 & MASK, (p0 >> 64) ^ words[3] ^ k1, p0 & MASK]
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & MASK, (k1 + 0xBB67AE8584CAA73B) & MASK
    return words


def bits(key: tuple[int, int], counter: int, count: int) -> list[int]:
    """64-bit values as `numpy.random.Philox` numbers them: the first block is that of ``counter + 1``."""
    blocks = (philox(counter + 1 + n, key) for n in range(-(-count // 4)))
    return [word for block in blocks for word in block][:count]


def halves(words: list[int]) -> list[int]:
    return [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]


def same(a: ag.Tensor, b: ag.Tensor) -> bool:
    return bool(np.array_equal(a.numpy(), b.numpy()))


def test_the_oracle_is_philox() -> None:
    # Of the known answers of the authors' Random123 library.
    assert philox(0, (0, 0)) == [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    raw = np.random.Philox(key=np.array([3, 5], np.uint64), counter=np.array([7, 0, 0, 0], np.uint64)).random_raw(10)
    assert raw.tolist() == bits((3, 5), 7, 10)


# --- the numbers --------------------------------------------------------------------------------------------------

SEEDS = [(None, (42, 0)), (0, (42, 1)), (7, (42, 8))]


@pytest.mark.parametrize(("op_seed", "key"), SEEDS)
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (33,), (0,)])
def test_uniforms(op_seed: int | None, key: tuple[int, int], shape: tuple[int, ...]) -> None:
    ag.set_random_seed(42)
    count, counter = math.prod(shape), 0
    for _ in range(3):  # the counter goes on
        x = ag.random_uniform(shape, seed=op_seed)
        words = -(-count // 2)
        expected = [(half >> 8) * 2.0**-24 for half in halves(bits(key, counter, words))[:count]]
        assert x.shape == shape
        assert x.dtype is ag.float32
        assert x.numpy().reshape(-1).tolist() == expected
        counter += -(-words // 4)
        y = ag.random_uniform(shape, dtype=ag.float64, seed=op_seed)
        expected = [(word >> 11) * 2.0**-53 for word in bits(key, counter, count)]
        assert y.numpy().reshape(-1).tolist() == expected
        counter += -(-count // 4)


@pytest.mark.parametrize(("op_seed", "key"), SEEDS)
@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        *[(0, 10, "int32"), (-5, 5, "int64"), (-(2**31), 2**31 - 1, "int32"), (-(2**63), 2**63 - 1, "int64")],
        *[(7, 8, "int32"), (0, 2**31, "int32"), (0, 2**63, "int64")],
    ],
)
def test_integers(op_seed: int | None, key: tuple[int, int], low: int, high: int, dtype: str) -> None:
    ag.set_random_seed(42)
    x = ag.random_uniform([2, 9], low, high, dtype, seed=op_seed)
    assert x.dtype.name == dtype
    assert x.numpy().reshape(-1).tolist() == [low + word % (high - low) for word in bits(key, 0, 18)]


@pytest.mark.parametrize(("dtype", "digits"), [("float16", 11), ("bfloat16", 8), ("float32", 24)])
def test_uniforms_never_reach_one(dtype: str, digits: int) -> None:
    ag.set_random_seed(1)
    x = ag.cast(ag.random_uniform([1 << 17], dtype=dtype), ag.float64).numpy()
    assert x.min() >= 0.0
    assert x.max() < 1.0
    assert np.array_equal(x * 2.0**digits, np.floor(x * 2.0**digits))
    if digits < 16:
        assert len(np.unique(x)) == 2**digits


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ranges_of_floats(dtype: str) -> None:
    ag.set_random_seed(1)
    x = ag.random_uniform([10_000], -2.0, 3.0, dtype)
    assert x.dtype.name == dtype
    host = x.numpy().astype(np.float64)
    assert host.min() >= -2.0
    assert host.max() <= 3.0
    assert host.mean() == pytest.approx(0.5, abs=0.1)
    assert ag.random_uniform([3], maxval=ag.constant(5.0)).dtype is ag.float32


def test_normals() -> None:
    """Against the inverse of the normal distribution at the midpoints that the bits choose, in float64."""
    from statistics import NormalDist

    ag.set_random_seed(42)
    x = ag.random_normal([501])
    midpoints = [((half >> 9) + 0.5) * 2.0**-23 for half in halves(bits((42, 0), 0, 251))[:501]]
    expected = [NormalDist().inv_cdf(p) for p in midpoints]
    assert np.allclose(x.numpy(), expected, rtol=1e-5, atol=2e-6)
    ag.set_random_seed(42)
    y = ag.random_normal([501], mean=3.0, stddev=2.0)
    assert np.array_equal(y.numpy(), x.numpy() * np.float32(2) + np.float32(3))
    ag.set_random_seed(42)
    assert np.array_equal(ag.random_normal([501], dtype=ag.float64).numpy(), x.numpy().astype(np.float64))


def test_moments_of_normals() -> None:
    ag.set_random_seed(3)
    x = ag.random_normal([200_000]).numpy().astype(np.float64)
    assert x.mean() == pytest.approx(0, abs=0.01)
    assert x.std() == pytest.approx(1, abs=0.01)
    assert (x**3).mean() == pytest.approx(0, abs=0.03)
    assert (x**4).mean() == pytest.approx(3, abs=0.08)


# --- seeds --------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_numbers() -> None:
    draws = []
    for _ in range(2):
        ag.set_random_seed(5)
        draws.append([ag.random_uniform([4]), ag.random_normal([4]), ag.random_uniform([4], seed=1)])
    assert all(same(a, b) for a, b in zip(*draws, strict=True))
    ag.set_random_seed(6)
    assert not same(ag.random_uniform([4]), draws[0][0])


def test_calls_give_different_numbers() -> None:
    for seed in (None, 5):
        ag.set_random_seed(seed)
        assert not same(ag.random_uniform([4]), ag.random_uniform([4]))
        assert not same(ag.random_uniform([4], seed=1), ag.random_uniform([4], seed=1))


def test_op_seeds_reproduce() -> None:
    """Streams of op seeds depend neither on each other nor on calls without one."""
    ag.set_random_seed(None)
    first = [ag.random_uniform([4], seed=3) for _ in range(3)]
    ag.set_random_seed(None)
    second = []
    for _ in range(3):
        ag.random_uniform([5])
        ag.random_normal([7], seed=4)
        second.append(ag.random_uniform([4], seed=3))
    assert all(same(a, b) for a, b in zip(first, second, strict=True))
    assert not same(ag.random_uniform([4], seed=0), ag.random_uniform([4]))


def test_without_a_seed_runs_differ() -> None:
    ag.set_random_seed(None)
    first = ag.random_uniform([4])
    ag.set_random_seed(None)
    assert not same(ag.random_uniform([4]), first)


@pytest.mark.parametrize("seed", [0, -1, 2**64 + 5, np.int64(7), True])
def test_every_integer_is_a_seed(seed: Any) -> None:
    ag.set_random_seed(seed)
    x = ag.random_uniform([2])
    ag.set_random_seed(int(seed) & MASK)
    assert same(ag.random_uniform([2]), x)


@pytest.mark.parametrize("seed", [1.5, "a", [1]])
def test_what_is_no_seed(seed: Any) -> None:
    with says(
        TypeError, f"set_random_seed: the seed must be an integer or None; got {seed!r} of type {type(seed).__name__}."
    ):
        ag.set_random_seed(seed)


# --- state --------------------------------------------------------------------------------------------------------


def test_state_does_not_know_of_calls_that_drew_nothing() -> None:
    generator = random.Generator(7)
    before = generator.get_state()
    generator.reserve(None, 0)
    assert generator.get_state() == before


def test_state_is_saved_and_restored() -> None:
    for seed in (9, None):
        ag.set_random_seed(seed)
        ag.random_uniform([10])
        ag.random_normal([3], seed=2)
        state = json.loads(json.dumps(random.generator().get_state()))
        draw: Callable[[], list[Any]] = lambda: [ag.random_uniform([3]), ag.random_normal([3], seed=2)]  # noqa: E731
        expected = draw()
        draw()
        random.generator().set_state(state)
        assert all(same(a, b) for a, b in zip(draw(), expected, strict=True))
        ag.set_random_seed(1)
        random.generator().set_state(state)
        assert all(same(a, b) for a, b in zip(draw(), expected, strict=True))


@pytest.mark.parametrize("op_seed", [None, 3])
def test_counters_never_overlap(op_seed: int | None) -> None:
    generator = random.Generator(1)
    end = 0
    for values in (1, 4, 5, 0, 100, 3):
        *_, counter = generator.reserve(op_seed, values)
        assert counter == end
        end = counter + math.ceil(values / 4)


def test_each_of_several_processes_has_numbers_of_its_own() -> None:
    of_all = random.Generator(3)
    first, second = of_all.of_process(0), random.Generator(3).of_process(1)
    assert of_all.of_process(0) is first
    keys = {generator.reserve(seed, 1)[:2] for generator in (of_all, first, second) for seed in (None, 5)}
    assert len(keys) == 6
    again = random.Generator(3).of_process(1)
    again.reserve(None, 1)
    assert again.reserve(None, 1) == second.reserve(None, 1)


def test_processes_share_initial_values() -> None:
    before, of_all = random.generator(), random.Generator(3)
    random.set_generator(of_all.of_process(1))
    try:
        first = random.drawn(lambda: ag.random_uniform([4])).numpy()
        second = ag.random_uniform([4]).numpy()
    finally:
        random.set_generator(before)
    ag.set_random_seed(3)
    np.testing.assert_array_equal(first, ag.random_uniform([4]).numpy())
    assert not (first == second).any()


def test_a_checkpoint_of_one_process_fits_another() -> None:
    of_all = random.Generator(3)
    of_all.reserve(None, 8)
    of_all.of_process(0).reserve(None, 12)
    saved = json.loads(json.dumps(of_all.of_process(0).checkpoint_state()))
    wanted = random.Generator(3).of_process(2)
    wanted.reserve(None, 12)
    for is_made_before in (False, True):
        other = random.Generator(9)
        if is_made_before:
            other.of_process(2).reserve(None, 4)
        other.restore_checkpoint_state(saved)
        assert other.reserve(None, 1)[2] == 2
        assert other.of_process(2).reserve(None, 1) == wanted.reserve(None, 1)
        wanted.put_back(None, 1)


def test_the_state_of_a_process_repeats_its_numbers() -> None:
    generator, other = random.Generator(3).of_process(1), random.Generator()
    other.set_state(generator.get_state())
    assert other.reserve(4, 1) == generator.reserve(4, 1)


def test_threads_that_share_a_generator_never_overlap() -> None:
    ag.set_random_seed(1)
    context = contextvars.copy_context()
    reserved: list[int] = []

    def work() -> None:
        for _ in range(300):
            reserved.append(random.generator().reserve(None, 4)[2])

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for future in [pool.submit(context.copy().run, work) for _ in range(4)]:
                future.result()
    finally:
        sys.setswitchinterval(before)
    assert sorted(reserved) == list(range(1200))


def test_threads_have_streams_of_their_own() -> None:
    ag.set_random_seed(1)
    expected = [ag.random_uniform([3]) for _ in range(2)]
    ag.set_random_seed(1)
    first = ag.random_uniform([3])
    seen: list[ag.Tensor] = []

    def work() -> None:
        seen.append(ag.random_uniform([3]))
        ag.set_random_seed(1)
        seen.append(ag.random_uniform([3]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert same(first, expected[0])
    assert same(ag.random_uniform([3]), expected[1])
    assert not same(seen[0], expected[0])
    assert same(seen[1], expected[0])


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (([2], 0, None, "int32"), ValueError, "random_uniform: maxval must be given for dtype int32."),
        (
            ([2], 5, 5, "int64"),
            InvalidArgumentError,
            "random_uniform: for dtype int64 minval must be below maxval; got [5, 5).",
        ),
        (
            ([2], 0, 2**40, "int32"),
            InvalidArgumentError,
            "random_uniform: dtype int32 holds [-2147483648, 2147483647]; got the range [0, 1099511627776).",
        ),
        (
            ([2], 0, 1, "string"),
            InvalidArgumentError,
            "random_uniform: dtype string is not supported; use one of bfloat16, float16, float32, float64. Cast with "
            "tf.cast.",
        ),
        (([-1],), ValueError, "A shape's sizes are not negative; got -1."),
    ],
    ids=str,
)
def test_errors(arguments: Any, kind: type[Exception], text: str) -> None:
    with says(kind, text):
        ag.random_uniform(*arguments)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_scaled_uniforms_stay_below_their_upper_end(dtype: str) -> None:
    ag.set_random_seed(7)
    values = ag.random_uniform([200_000], 1, 2, dtype=dtype).numpy().astype(np.float64)
    assert values.min() >= 1
    assert values.max() < 2
    assert values.max() > 1.98


def test_a_restored_generator_has_the_parts_and_the_state_of_one_that_ran_through() -> None:
    through = random.Generator(3)
    through.reserve(None, 5)
    restored = random.Generator(3)
    restored.restore_checkpoint_state(through.checkpoint_state())
    assert restored.checkpoint_dependencies() == through.checkpoint_dependencies() == {}
    assert restored.checkpoint_dependency("_counters") is None
    assert restored.checkpoint_state() == through.checkpoint_state()


def test_one_process_keeps_how_far_several_were() -> None:
    several = random.Generator(3)
    several.of_process(0).reserve(None, 5)
    alone = random.Generator(3)
    alone.restore_checkpoint_state(several.checkpoint_state())
    again = random.Generator(3)
    again.restore_checkpoint_state(alone.checkpoint_state())
    assert again.of_process(0).reserve(None, 1) == several.of_process(0).reserve(None, 1)

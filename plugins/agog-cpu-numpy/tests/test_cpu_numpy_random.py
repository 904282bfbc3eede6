"""Random numbers: the bits are those of Philox, and the numbers made of them never change."""

from __future__ import annotations

import hashlib
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.plugin import random_bits
from agog_cpu_numpy import kernels

Array = np.ndarray[Any, Any]

# The known answers for philox4x64-10 that come with Random123 (kat_vectors in https://github.com/DEShawResearch/random123):
# of all zeros, of all ones, and of digits of pi. NumPy advances its counter before each block, so it starts one below.
KNOWN_ANSWERS = [
    (
        (0, 0),
        (0, 0, 0, 0),
        (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B),
    ),
    (
        (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF),
        (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF),
        (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
    ),
    (
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
    ),
]


@pytest.mark.parametrize(("key", "counter", "words"), KNOWN_ANSWERS)
def test_philox_of_numpy_is_the_published_one(
    key: tuple[int, ...], counter: tuple[int, ...], words: tuple[int, ...]
) -> None:
    whole = (sum(word << 64 * n for n, word in enumerate(counter)) - 1) % 2**256
    before = [whole >> 64 * n & 2**64 - 1 for n in range(4)]
    generator = np.random.Philox(key=np.array(key, np.uint64), counter=np.array(before, np.uint64))
    assert tuple(generator.random_raw(4).tolist()) == words


@pytest.mark.parametrize("counter", [0, 1, 2**64 - 1])
def test_bits_are_those_of_philox(counter: int) -> None:
    key = (2**63 + 3, 5, counter)
    expected = np.random.Philox(key=np.array(key[:2], np.uint64), counter=np.array([counter, 0, 0, 0], np.uint64))
    assert random_bits(key, 9).tolist() == expected.random_raw(9).tolist()


def test_counter_counts_blocks_of_four() -> None:
    assert random_bits((1, 2, 3), 8)[4:].tolist() == random_bits((1, 2, 4), 4).tolist()


def draw(op: str, count: int, dtype: str, **attributes: Any) -> Array:
    key = (20181105, 7, 0)
    array: Array = getattr(kernels, op)(shape=(count,), key=key, dtype=dtype, index=0, **attributes)
    return array


@pytest.mark.parametrize(("dtype", "bits"), [("bfloat16", 8), ("float16", 11), ("float32", 24), ("float64", 53)])
def test_uniforms_use_all_bits_that_the_dtype_holds(dtype: str, bits: int) -> None:
    values = draw("random_uniform", 100_000, dtype).astype(np.float64)
    scaled = values * 2.0**bits
    assert np.array_equal(scaled, np.floor(scaled))
    assert np.any(scaled % 2 == 1)
    assert values.min() >= 0
    assert values.max() < 1
    assert abs(values.mean() - 0.5 + 2.0**-bits / 2) < 0.004


@pytest.mark.parametrize(
    ("op", "dtype", "digest"),
    [
        ("random_uniform", "float32", "7e391fa7a0c222db44871d5fe657e47130248796374fe2ca9bfa68f0f76dc1e1"),
        ("random_uniform", "float64", "9b5baf9accb0a2fb66ed669ecbbcccd1ba0fc7d7f657b8da292ceb6fab772feb"),
        ("random_normal", "float32", "8639e5e5aca196bbc063a4e6e3a65d045050007756476a047a0fe1e8357fee4a"),
        ("random_normal", "float64", "35d9c41e75efe62dace3a64dbee1855db771dd80069b0886805339c7ca9b48b5"),
    ],
)
def test_numbers_never_change(op: str, dtype: str, digest: str) -> None:
    """A program's random numbers stay the same from release to release, and are the same on every device."""
    assert hashlib.sha256(draw(op, 100_003, dtype).tobytes()).hexdigest() == digest


def test_integers_never_change() -> None:
    values = draw("random_integers", 1000, "int64", low=-10, high=1000)
    assert hashlib.sha256(values.tobytes()).hexdigest() == (
        "0b10e68516696e2021843b68a36fe53deb35157059bcb154479cd4178736abbf"
    )


def test_first_normals() -> None:
    expected = [0xBF81B238, 0x3F4073F4, 0xBFBD7FB3, 0xBE9D31EA, 0x3F2B0F7D, 0x3F30F59E]
    assert draw("random_normal", 6, "float32").view(np.uint32).tolist() == expected


def every_normal() -> tuple[Array, Array]:
    """The normal of each value of the 23 bits that make it, and the probabilities."""
    from agog_kernels_xp.parts import reproducible_math

    bits = np.arange(0, 2**23, 17, dtype=np.uint32)
    return reproducible_math.normal(np, bits << np.uint32(9)), (bits + 0.5) * 2.0**-23


def test_normals_are_quantiles() -> None:
    values, probabilities = every_normal()
    quantile = NormalDist().inv_cdf
    exact = np.array([quantile(p) for p in probabilities.tolist()])
    assert np.max(np.abs(values - exact) / np.maximum(np.abs(exact), 1)) < 1e-6
    assert np.all(np.diff(values) >= -1e-6)


def test_normals_are_symmetric_about_their_middle() -> None:
    from agog_kernels_xp.parts import reproducible_math

    bits = np.arange(0, 2**22, 1009, dtype=np.uint32)
    below, above = (reproducible_math.normal(np, side << np.uint32(9)) for side in (bits, np.uint32(2**23 - 1) - bits))
    assert np.array_equal(below, -above)


def test_moments_of_normals() -> None:
    values = draw("random_normal", 1_000_000, "float32").astype(np.float64)
    # Each bound is five standard deviations of the estimate.
    assert abs(values.mean()) < 5e-3
    assert abs(values.var() - 1) < 5 * 2**0.5 * 1e-3
    assert abs((values**3).mean()) < 5 * 15**0.5 * 1e-3
    assert abs((values**4).mean() - 3) < 5 * 96**0.5 * 1e-3


def test_integers_are_equally_likely() -> None:
    counts = np.bincount(draw("random_integers", 100_000, "int32", low=0, high=10))
    # The 99.99 % quantile of chi-square with 9 degrees of freedom.
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 33.7


def test_whole_range_of_integers() -> None:
    limits = np.iinfo(np.int64)
    values = draw("random_integers", 1000, "int64", low=int(limits.min), high=int(limits.max))
    words = random_bits((20181105, 7, 0), 1000).tolist()
    assert values.tolist() == [word % (2**64 - 1) - 2**63 for word in words]


def test_calls_never_share_bits() -> None:
    ag.set_random_seed(3)
    calls = [ag.random_uniform([n], dtype="float64").numpy() for n in (1, 3, 4, 5, 0, 8)]
    values = np.concatenate(calls)
    assert len(np.unique(values)) == len(values)

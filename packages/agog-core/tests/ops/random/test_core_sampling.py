"""Shapes, seeds, streams and errors of random ops with parameters, and of those without a state."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import random
from agog_core.errors import InvalidArgumentError
from agog_core.ops.random import stateless
from agog_core.ops.random.distributions import categorical
from agog_core.ops.random.uniform_and_normal import random_permutation
from agog_testing import says

LOGITS = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0]], np.float32)
STATEFUL: dict[str, Callable[..., ag.Tensor]] = {
    "uniform": lambda seed: ag.random_uniform([5], seed=seed),
    "integers": lambda seed: ag.random_uniform([9], 0, 1000, "int32", seed=seed),
    "normal": lambda seed: ag.random_normal([5], seed=seed),
    "truncated normal": lambda seed: ag.truncated_normal([5], seed=seed),
    "gamma": lambda seed: ag.random_gamma([3], [0.5, 2.0], seed=seed),
    "poisson": lambda seed: ag.random_poisson([5.0, 500.0], [3], seed=seed),
    "multinomial": lambda seed: ag.multinomial(LOGITS, 30, seed),
    "shuffle": lambda seed: ag.random_shuffle(np.arange(30), seed),
    "crop": lambda seed: ag.random_crop(np.arange(10_000), [3], seed),
}


def values(tensor: ag.Tensor) -> Any:
    return tensor.numpy().tolist()


@pytest.mark.parametrize("name", STATEFUL)
@pytest.mark.parametrize("seed", [None, 3])
def test_streams(name: str, seed: int | None) -> None:
    """One seed gives one stream; calls go on with it, and other op seeds do not disturb it."""
    draw = STATEFUL[name]
    ag.set_random_seed(11)
    first, second = values(draw(seed)), values(draw(seed))
    assert first != second
    ag.set_random_seed(11)
    assert values(draw(seed)) == first
    draw(4)
    assert values(draw(seed)) == second
    ag.set_random_seed(12)
    assert values(draw(seed)) != first


@pytest.mark.parametrize("name", STATEFUL)
def test_state_is_saved_and_restored(name: str) -> None:
    draw = STATEFUL[name]
    ag.set_random_seed(None)
    draw(None)
    state = json.loads(json.dumps(random.generator().checkpoint_state()))
    expected = values(draw(None)), values(draw(3))
    random.generator().restore_checkpoint_state(state)
    assert (values(draw(None)), values(draw(3))) == expected


@pytest.mark.parametrize("name", STATEFUL)
def test_calls_take_bits_of_their_own(name: str) -> None:
    """What a call reads is what it reserved: the next block of the stream is untouched."""
    ag.set_random_seed(1)
    STATEFUL[name](None)
    end = random.generator().reserve(None, 0)[2]
    assert end > 0
    ag.set_random_seed(1)
    STATEFUL[name](None)
    after = ag.random_uniform([4], dtype="float64").numpy()
    words = np.random.Philox(key=np.array([1, 0], np.uint64), counter=[end, 0, 0, 0]).random_raw(4)
    assert after.tolist() == ((words >> np.uint64(11)) * 2.0**-53).tolist()


STATELESS: dict[str, Callable[..., ag.Tensor]] = {
    "uniform": lambda seed: stateless.stateless_random_uniform([5], seed),
    "integers": lambda seed: stateless.stateless_random_uniform([9], seed, 0, 1000, "int32"),
    "normal": lambda seed: stateless.stateless_random_normal([5], seed),
    "truncated normal": lambda seed: stateless.stateless_truncated_normal([5], seed),
    "multinomial": lambda seed: stateless.stateless_multinomial(LOGITS, 30, seed),
}


@pytest.mark.parametrize("name", STATELESS)
def test_stateless(name: str) -> None:
    draw = STATELESS[name]
    ag.set_random_seed(1)
    state = random.generator().get_state()
    expected = values(draw([7, 9]))
    assert values(draw(np.array([7, 9], np.int64))) == expected
    assert values(draw(ag.constant([7, 9]))) == expected
    assert random.generator().get_state() == state
    for other in ([9, 7], [7, 8], [-7, 9]):
        assert values(draw(other)) != expected


def test_stateless_bits_are_keyed_by_the_seed() -> None:
    words = np.random.Philox(key=np.array([7, 2**64 - 9], np.uint64)).random_raw(4)
    found = stateless.stateless_random_uniform([4], [7, -9], dtype="float64").numpy()
    assert found.tolist() == ((words >> np.uint64(11)) * 2.0**-53).tolist()
    found = stateless.stateless_random_uniform([4], [7, -9], -5, 12, "int64").numpy()
    assert found.tolist() == [int(word) % 17 - 5 for word in words]


@pytest.mark.parametrize("seed", [3, [1, 2, 3], [[1, 2]], [1.0, 2.0]])
def test_what_is_no_stateless_seed(seed: Any) -> None:
    host = ag.convert_to_tensor(seed).numpy()
    with says(
        InvalidArgumentError,
        f"A stateless seed must be two integers, of shape (2,); got shape {host.shape} and dtype {host.dtype}.",
    ):
        stateless.stateless_random_uniform([2], seed)


def test_shapes_and_dtypes() -> None:
    assert ag.random_gamma([4], np.ones((2, 1), np.float32), np.ones(3, np.float32)).shape == (4, 2, 3)
    assert ag.random_gamma([], [1.0, 2.0], dtype="float16").dtype is ag.float16
    assert ag.random_poisson([1, 20], [3], "int32").dtype is ag.int32
    assert ag.random_poisson(np.ones((2, 1)), [3]).shape == (3, 2, 1)
    assert ag.multinomial(LOGITS, ag.constant(7), output_dtype="int32").dtype is ag.int32
    assert categorical(LOGITS, 7, "int32").shape == (2, 7)
    assert ag.random_uniform([3], ag.constant(2), ag.constant(5), "int32").dtype is ag.int32
    assert ag.random_shuffle(3).numpy() == 3
    assert ag.random_shuffle(np.zeros((0, 2))).shape == (0, 2)
    assert sorted(values(ag.random_shuffle(["a", "b", "c"]))) == [b"a", b"b", b"c"]


def test_integers_between_tensors() -> None:
    ag.set_random_seed(1)
    expected = values(ag.random_uniform([50], -3, 4, "int64"))
    ag.set_random_seed(1)
    assert values(ag.random_uniform([50], ag.constant(-3), np.int64(4), "int64")) == expected
    assert set(expected) == set(range(-3, 4))


def test_gradients() -> None:
    """A shuffle moves gradients back; a gamma number has one by its inverse scale, and none by its shape."""
    x = ag.constant([1.0, 2.0, 3.0])
    with ag.GradientTape() as tape:
        tape.watch(x)
        ag.set_random_seed(2)
        y = ag.random_shuffle(x)
        z = y * ag.constant([10.0, 20.0, 30.0])
    gradient = ag.convert_to_tensor(tape.gradient(z, x)).numpy()
    order = [int(v) - 1 for v in y.numpy()]
    assert [gradient[source] for source in order] == [10.0, 20.0, 30.0]
    alpha, beta = ag.constant([2.0], "float64"), ag.constant([4.0], "float64")
    with ag.GradientTape() as tape:
        tape.watch([alpha, beta])
        number = ag.random_gamma([], alpha, beta, "float64")
    by_alpha, by_beta = tape.gradient(number, [alpha, beta])
    assert by_alpha is None
    np.testing.assert_allclose(by_beta.numpy(), -number.numpy() / 4, rtol=1e-12)


def test_small_gamma_numbers_are_never_zero() -> None:
    ag.set_random_seed(3)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        numbers = ag.random_gamma([1000], 1e-3, dtype=dtype).numpy().astype(np.float64)
        assert numbers.min() > 0


def test_permutation() -> None:
    ag.set_random_seed(4)
    words = np.random.Philox(key=np.array([4, 1], np.uint64)).random_raw(100)
    assert values(random_permutation(100, 0)) == np.argsort(words, kind="stable").tolist()


@pytest.mark.parametrize(("shape", "size"), [((3, 4), (4, 4)), ((3, 4), (3,)), ((), (1,))])
def test_boxes_that_do_not_fit(shape: tuple[int, ...], size: tuple[int, ...]) -> None:
    with says(
        InvalidArgumentError,
        f"random_crop: Need value.shape >= size: a box of size {size} does not fit into a tensor of shape {shape}.",
    ):
        ag.random_crop(np.zeros(shape), size)


def test_errors_name_the_stateless_op() -> None:
    with says(ValueError, "stateless_random_uniform: maxval must be given for dtype int32."):
        stateless.stateless_random_uniform([2], [1, 2], dtype="int32")


def test_dropout_masks_are_rounded_sums() -> None:
    """What is kept is decided by a sum and a floor, which every device rounds in the same way."""
    ag.set_random_seed(5)
    noise = ag.random_uniform([1000]).numpy()
    ag.set_random_seed(5)
    kept = ag.nn.dropout(np.ones(1000, np.float32), keep_prob=0.3).numpy()
    assert np.array_equal(kept, np.floor(noise + np.float32(0.3)) * (np.float32(1) / np.float32(0.3)))

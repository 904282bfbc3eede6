"""Making tensors of every dtype, masks of sequences, and shapes that are computed with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.sorting.sorting import top_k
from agog_testing import says

NUMBERS = sorted((dtype for dtype in ag.dtypes.ALL if dtype is not ag.string), key=lambda dtype: dtype.name)


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.name)
def test_zeros_and_ones(dtype: ag.DType) -> None:
    for make, value in ((ag.zeros, 0), (ag.ones, 1)):
        made = make([2, 1], dtype)
        assert made.dtype is dtype
        assert made.numpy().tolist() == [[value], [value]]
    for like, value in ((ag.zeros_like, 0), (ag.ones_like, 1)):
        assert like(ag.zeros([2], dtype)).dtype is dtype
        assert like(ag.zeros([2], "string" if like is ag.zeros_like else "bool"), dtype).numpy().tolist() == [value] * 2


def test_zeros_of_strings() -> None:
    assert ag.zeros([2], ag.string).numpy().tolist() == [b"", b""]
    assert ag.zeros_like(["a", "b"]).numpy().tolist() == [b"", b""]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ag.ones([2], ag.string), "ones: strings have no 1; use tf.fill for a tensor of one string."),
        (lambda: ag.ones_like(["a"]), "ones_like: strings have no 1; use tf.fill for a tensor of one string."),
    ],
)
def test_ones_of_strings(make: Callable[[], Any], text: str) -> None:
    with says(TypeError, text):
        make()


def test_one_hot_of_other_dtypes() -> None:
    assert ag.one_hot([1], 2, on_value="on", off_value="off").numpy().tolist() == [[b"off", b"on"]]
    assert ag.one_hot([1], 2, dtype=ag.bool).numpy().tolist() == [[False, True]]
    assert ag.one_hot([1], 2, on_value=2j).numpy().tolist() == [[0, 2j]]
    for arguments in ({}, {"on_value": "on"}, {"off_value": "off"}):
        with says(TypeError, "one_hot: strings have no one and no zero; give on_value and off_value."):
            ag.one_hot([1], 2, dtype=ag.string, **arguments)


@pytest.mark.parametrize("value", [True, 1 + 2j, b"ab", "ab", np.int8(3), np.float16(0.5)], ids=repr)
def test_fill(value: Any) -> None:
    made = ag.fill([2, 3], value)
    like = ag.constant(value)
    assert made.dtype is like.dtype
    assert made.shape == (2, 3)
    assert made.numpy().tolist() == [[like.numpy()] * 3] * 2


def test_fill_with_a_tensor_passes_gradients_on() -> None:
    value = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(value)
        out = ag.fill(ag.constant([2, 3]), value)
        loss = ag.reduce_sum(out * out)
    assert out.numpy().tolist() == [[3, 3, 3]] * 2
    assert tape.gradient(loss, value).numpy() == 36
    with says(ag.errors.InvalidArgumentError, "fill: value must be a scalar; got shape (1,)."):
        ag.fill([2], ag.constant([1.0]))


def test_eye_of_a_batch() -> None:
    made = ag.eye(2, 3, batch_shape=[4, 1], dtype="int32")
    assert np.array_equal(made.numpy(), np.broadcast_to(np.eye(2, 3), (4, 1, 2, 3)))
    assert ag.eye(ag.constant(2)).numpy().tolist() == [[1, 0], [0, 1]]


def test_linspace_takes_tensors() -> None:
    made = ag.linspace(ag.constant(0.0, "float64"), ag.constant(1.0, "float64"), ag.constant(11))
    assert made.dtype is ag.float64
    assert np.allclose(made.numpy(), np.linspace(0, 1, 11), rtol=0, atol=1e-16)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, ag.constant])
def test_linspace_of_integers_is_of_float32(kind: Callable[[int], Any]) -> None:
    made = ag.linspace(kind(1), kind(10), 4)
    assert made.dtype is ag.float32
    assert made.numpy().tolist() == [1.0, 4.0, 7.0, 10.0]
    assert ag.linspace(kind(0), 1.0, 3).dtype is ag.float32
    assert ag.linspace(kind(0), np.float64(1), 3).dtype is ag.float64


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_sequence_mask(kind: str) -> None:
    lengths = np.array([[0, 3], [5, 1]], kind)
    for maxlen in (None, 7, 2, 0):
        most = 5 if maxlen is None else maxlen
        expected = np.array([[[at < n for at in range(most)] for n in row] for row in lengths])
        expected = expected.reshape(2, 2, -1)
        assert np.array_equal(ag.sequence_mask(lengths, maxlen).numpy(), expected)
        numbers = ag.sequence_mask(lengths, maxlen, "float32")
        assert numbers.dtype is ag.float32
        assert np.array_equal(numbers.numpy(), expected)
    assert ag.sequence_mask(np.zeros(0, kind)).shape == (0, 0)
    assert ag.sequence_mask(2, 3).numpy().tolist() == [True, True, False]
    assert ag.sequence_mask([1], ag.constant(2)).numpy().tolist() == [[True, False]]
    with pytest.raises(ValueError, match=r"^sequence_mask: maxlen must be a scalar; got shape \(1,\)\.$"):
        ag.sequence_mask([1], [2])


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([], [], []),
        ([3], [], [3]),
        ([2, 1], [3], [2, 3]),
        ([None, 1], [5, 3], [5, 3]),
        ([None], [1], [None]),
        ([None], [0], [None]),
        ([None], [None], [None]),
        ([0], [1], [0]),
        ([4, None, 1], [None, 2], [4, None, 2]),
        (None, [2], None),
    ],
)
def test_broadcast_static_shape(x: Any, y: Any, expected: Any) -> None:
    for first, second in ((x, y), (y, x)):
        common = ag.broadcast_static_shape(ag.TensorShape(first), ag.TensorShape(second))
        assert repr(common) == repr(ag.TensorShape(expected))


def test_shapes_that_do_not_broadcast() -> None:
    text = r"^Incompatible shapes for broadcasting: \(2, 3\) and \(4,\); sizes 3 and 4 differ\.$"
    with pytest.raises(ValueError, match=text):
        ag.broadcast_static_shape([2, 3], [4])
    with says(
        ag.errors.InvalidArgumentError,
        "broadcast_dynamic_shape: Incompatible shapes: [2,3] vs. [4]: sizes 3 and 4 differ and neither is 1. "
        "Reshape, tile or slice one of them.",
    ):
        ag.broadcast_dynamic_shape([2, 3], [4])


def test_broadcast_dynamic_shape() -> None:
    for kind in ("int32", "int64"):
        common = ag.broadcast_dynamic_shape(ag.constant([2, 1], kind), ag.constant([5, 1, 3], kind))
        assert common.dtype is ag.as_dtype(kind)
        assert common.numpy().tolist() == [5, 2, 3]
    empty = ag.broadcast_dynamic_shape(ag.constant([], "int32"), ag.constant([], "int32"))
    assert empty.numpy().tolist() == []


def test_shape_n() -> None:
    first, second = ag.shape_n([[1, 2], 3.0], out_type=ag.int64)
    assert first.dtype is second.dtype is ag.int64
    assert first.numpy().tolist() == [2]
    assert second.numpy().tolist() == []


def test_order_of_tensors_given_as_lists() -> None:
    assert ag.unique(["b", "a", "b"]).y.numpy().tolist() == [b"b", b"a"]
    assert ag.unique_with_counts([2, 1, 2], ag.int64).count.dtype is ag.int64
    assert ag.setdiff1d(["b", "a"], ["a"]).out.numpy().tolist() == [b"b"]
    assert ag.searchsorted([1.0, 2.0], [1]).numpy().tolist() == [0]
    values, indices = top_k([1, 3, 3])
    assert values.numpy().tolist() == [3]
    assert indices.numpy().tolist() == [1]


def test_a_range_of_float64_starts_at_the_float_that_was_given() -> None:
    made = ag.range(0.1, 0.75, 0.2, dtype="float64").numpy()
    np.testing.assert_allclose(made, [0.1, 0.3, 0.5, 0.7], rtol=1e-15)


@pytest.mark.parametrize("join", [lambda values: ag.stack(values), lambda values: ag.concat(values, 0)])
def test_lists_take_the_dtype_of_the_first_tensor_beside_them(join: Any) -> None:
    tensor = ag.constant([1.0, 2.0], ag.float64)
    for values in ([tensor, [3, 4]], [[3.5, 4], tensor], [np.float32([3, 4]), [5, 6], ag.Variable(tensor)]):
        assert join(values).dtype is ag.float64
        expected = [value.numpy() if hasattr(value, "numpy") else np.float64(value) for value in values]
        assert join(values).numpy().ravel().tolist() == np.concatenate(expected).tolist()
    with says(
        TypeError,
        "Cannot convert a value of dtype float64 and shape (2,) to a Tensor of dtype int32 without losing something; "
        "convert it first.",
    ):
        join([ag.constant([1, 2]), [0.5, 2.0]])


def test_a_whole_float_becomes_an_integer_where_that_is_asked_for() -> None:
    for value, dtype in ((1.0, "int64"), (-(2.0**62), "int64"), (255.0, "uint8")):
        assert ag.constant(value, dtype).dtype.name == dtype
        assert ag.constant(value, dtype).numpy() == value
    for wrong, dtype in ((1.5, "int64"), (float("nan"), "int32"), (float("inf"), "uint8")):
        with says(
            TypeError,
            f"Cannot convert a value of dtype float64 and shape () to a Tensor of dtype {dtype} without losing "
            "something; convert it first.",
        ):
            ag.constant(wrong, dtype)
    with says(
        TypeError,
        "Cannot convert a value of dtype int64 and shape () to a Tensor of dtype uint8 without losing something; "
        "convert it first.",
    ):
        ag.constant(256.0, "uint8")


@pytest.mark.parametrize("function", [ag.zeros, ag.ones])
def test_a_shape_is_one_argument(function: Any) -> None:
    name = function.__name__
    with says(TypeError, f"{name}: dtype must be a dtype; got 3. The shape is one argument: tf.{name}([2, 3])."):
        function(2, 3)

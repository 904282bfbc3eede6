"""Tensor: texts, Python protocols, indexing, NumPy's functions, mixed operands."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_testing import says


def test_a_tensor_is_made_by_an_op() -> None:
    with says(
        TypeError, "A Tensor is made by an op, such as tf.constant or tf.convert_to_tensor; Tensor itself makes none."
    ):
        ag.Tensor([1.0], dtype=ag.float32)


@pytest.mark.parametrize(
    ("value", "text", "numpy_text"),
    [
        (3.0, "tf.Tensor(3.0, shape=(), dtype=float32)", "shape=(), dtype=float32, numpy=3.0"),
        (
            [1, 2],
            "tf.Tensor([1 2], shape=(2,), dtype=int32)",
            "shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)",
        ),
        ([[4.0]], "tf.Tensor([[4.]], shape=(1, 1), dtype=float32)", None),
        (
            [[1.0, 2.0], [3.0, 4.0]],
            "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)",
            "shape=(2, 2), dtype=float32, numpy=\narray([[1., 2.],\n       [3., 4.]], dtype=float32)",
        ),
        (True, "tf.Tensor(True, shape=(), dtype=bool)", "shape=(), dtype=bool, numpy=True"),
        ("ab", "tf.Tensor(b'ab', shape=(), dtype=string)", "shape=(), dtype=string, numpy=b'ab'"),
        ([], "tf.Tensor([], shape=(0,), dtype=float32)", "shape=(0,), dtype=float32, numpy=array([], dtype=float32)"),
    ],
)
def test_texts(value: Any, text: str, numpy_text: str | None) -> None:
    x = ag.constant(value)
    assert str(x) == text
    if numpy_text is not None:
        shown = repr(x)
        number = shown.removeprefix("<tf.Tensor: id=").split(",")[0]
        assert number.isdigit()
        assert shown == f"<tf.Tensor: id={number}, {numpy_text}>"


def test_texts_obey_numpy_print_options() -> None:
    with np.printoptions(precision=2):
        assert str(ag.constant([1 / 3])) == "tf.Tensor([0.33], shape=(1,), dtype=float32)"


def test_ids_in_texts_grow_and_stay() -> None:
    first, second = ag.constant(1), ag.constant(1)
    shown = repr(first)
    assert repr(first) == shown
    assert int(shown.split("=")[1].split(",")[0]) < int(repr(second).split("=")[1].split(",")[0])


def test_equality_is_identity_and_hash_goes_with_it() -> None:
    one, other = ag.constant(1), ag.constant(1)
    assert one == one
    assert one != other
    assert not one == other  # noqa: SIM201
    assert one != 1
    assert one != np.int32(1)
    assert {one: "a", other: "b"}[one] == "a"
    assert one in [one]
    assert one not in [other]


def test_comparisons_are_elementwise() -> None:
    x = ag.constant([1, 2, 3])
    assert (x < 2).numpy().tolist() == [True, False, False]
    assert (x <= 2).numpy().tolist() == [True, True, False]
    assert (x > 2).numpy().tolist() == [False, False, True]
    assert (x >= 2).numpy().tolist() == [False, True, True]
    assert (x < 2).dtype is ag.bool


def test_bool() -> None:
    assert bool(ag.constant(True)) is True
    assert bool(ag.constant([False])) is False
    with says(
        ValueError,
        "Non-boolean tensor of dtype int32 and shape () cannot be converted to boolean; "
        "compare it first, such as x > 0 or tf.not_equal(x, 0).",
    ):
        bool(ag.constant(1))
    with says(
        ValueError,
        "Non-scalar tensor of shape (2,) cannot be converted to boolean; use tf.reduce_all or tf.reduce_any first.",
    ):
        bool(ag.constant([True, False]))


def test_numbers() -> None:
    assert float(ag.constant(2.5)) == 2.5
    assert float(ag.constant([[2.5]])) == 2.5
    assert int(ag.constant(-2.5)) == -2
    assert complex(ag.constant(1 + 2j)) == 1 + 2j
    assert "%.2f" % ag.constant([2.5]) == "2.50"  # noqa: UP031
    assert math.sqrt(ag.constant(9.0)) == 3.0
    for convert, what in ((float, "float"), (int, "int"), (complex, "complex")):
        with says(TypeError, f"Only a tensor with one element can be converted to {what}; this one has shape (2,)."):
            convert(ag.constant([1.0, 2.0]))


def test_index() -> None:
    assert ["a", "b"][ag.constant(1)] == "b"
    assert list(range(ag.constant(3))) == [0, 1, 2]
    assert ["a", "b"][ag.constant(True)] == "b"  # as Python's own bools
    with pytest.raises(TypeError, match="Tensor indices are ints, slices"):
        ag.constant([1, 2])[ag.constant(True) :]
    with says(
        TypeError,
        "Only a tensor of integers can be used as an index; this one has dtype float32. Cast it with tf.cast.",
    ):
        ["a", "b"][ag.constant(1.0)]
    with says(TypeError, "Only a tensor with one element can be converted to an index; this one has shape (2,)."):
        ["a", "b"][ag.constant([0, 1])]


def test_len_and_iteration() -> None:
    x = ag.constant([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3
    assert [row.numpy().tolist() for row in x] == [[1, 2], [3, 4], [5, 6]]
    first, *_ = x
    assert isinstance(first, ag.Tensor)
    assert list(ag.constant(np.zeros((0, 2)))) == []
    with says(TypeError, "A scalar tensor has no len()."):
        len(ag.constant(1))
    with says(TypeError, "Cannot iterate over a scalar tensor."):
        iter(ag.constant(1))


def test_iteration_is_recorded() -> None:
    x = ag.constant([2.0, 3.0])
    with ag.GradientTape() as tape:
        tape.watch(x)
        a, b = x
        y = a * b
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 2.0]


def test_format() -> None:
    assert f"{ag.constant(2.0):.3f}" == "2.000"
    assert f"{ag.constant(7):>4d}" == "   7"
    # As in TensorFlow, a tensor in an f-string is formatted as its value: all digits that its float32 has as a float64.
    assert f"{ag.constant(0.1)}" == "0.10000000149011612"
    assert f"{ag.constant([1, 2])}" == "[1 2]"
    assert f"{ag.constant([1, 2])!s}" == "tf.Tensor([1 2], shape=(2,), dtype=int32)"
    with says(TypeError, "The format '.2f' is for one number; this tensor has shape (2,)."):
        format(ag.constant([1.0, 2.0]), ".2f")


def test_shape_attributes() -> None:
    x = ag.constant([[1, 2, 3], [4, 5, 6]])
    assert x.shape == (2, 3)
    assert x.get_shape() == x.shape
    assert x.ndim == 2
    x.set_shape([None, 3])
    with says(ValueError, "Tensor's shape (2, 3) is not compatible with supplied shape (3, 2)"):
        x.set_shape((3, 2))


def test_copies_are_the_tensor_itself() -> None:
    x = ag.constant([1.0])
    assert copy.copy(x) is x
    assert copy.deepcopy([x])[0] is x


def test_programs_note_what_they_like_on_a_tensor() -> None:
    tensor = ag.constant([1.0, 2.0])
    tensor.is_padded = True
    assert tensor.is_padded
    assert not hasattr(tensor + 1.0, "is_padded")
    with pytest.raises(AttributeError):
        tensor.shape = (2,)


@pytest.mark.parametrize("dtype", [d.name for d in sorted(ag.dtypes.ALL, key=lambda d: d.name)])
def test_pickle(dtype: str) -> None:
    x = ag.constant([b"a\0", b"b"]) if dtype == "string" else ag.cast([0, 1], dtype)
    back = pickle.loads(pickle.dumps(x))
    assert back.dtype is x.dtype
    assert back.numpy().tolist() == x.numpy().tolist()


# --- NumPy --------------------------------------------------------------------------------------------------------


def test_numpy_gives_a_read_only_array_or_a_scalar() -> None:
    host = ag.constant([1.0, 2.0]).numpy()
    assert type(host) is np.ndarray
    assert not host.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        host[0] = 5
    assert type(ag.constant(1.0).numpy()) is np.float32
    assert ag.constant("a").numpy() == b"a"


def test_numpy_functions_take_tensors() -> None:
    x = ag.constant([[1.0, -2.0]])
    assert type(np.square(x)) is np.ndarray
    assert np.square(x).tolist() == [[1.0, 4.0]]
    assert np.sum(x) == -1.0
    assert np.asarray(x).dtype == np.float32
    assert np.asarray(x, np.float64).dtype == np.float64
    assert np.stack([x, x]).shape == (2, 1, 2)
    assert np.array(x).flags.writeable
    copied = np.array(x)
    copied[:] = 0
    assert x.numpy().tolist() == [[1.0, -2.0]]
    with pytest.raises(ValueError, match="copy"):
        np.array(x, np.float64, copy=False)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_an_array_beside_a_tensor_gives_a_tensor(dtype: str) -> None:
    array = np.array([4, 9], dtype)
    x = ag.constant([2, 2], dtype=dtype)
    for got, expected in [
        (array + x, [6, 11]),
        (array - x, [2, 7]),
        (array * x, [8, 18]),
        (array // x, [2, 4]),
        (array % x, [0, 1]),
        (array**x, [16, 81]),
        (x + array, [6, 11]),
        (x - array, [-2, -7]),
        (array[1] + x, [11, 11]),
        (x * array[0], [8, 8]),
    ]:
        assert isinstance(got, ag.Tensor)
        assert got.dtype.name == dtype
        assert got.numpy().tolist() == expected
    assert isinstance(array < x, ag.Tensor)
    assert (array < x).numpy().tolist() == [False, False]
    assert (array[0] > x).numpy().tolist() == [True, True]
    product = np.eye(2) @ ag.constant([[1.0], [2.0]])
    assert isinstance(product, ag.Tensor)
    assert product.numpy().tolist() == [[1.0], [2.0]]


def test_the_array_that_a_tensor_was_made_of_may_be_written() -> None:
    source = np.array([1.0, 2.0, 3.0])
    tensors = [
        ag.constant(source),
        ag.convert_to_tensor(source),
        ag.constant(source[::-1]),
        ag.constant([source, source]),
    ]
    added = ag.constant([0.0, 0.0, 0.0], dtype=ag.float64) + source
    reshaped = ag.reshape(source, (3, 1))
    source[:] = 9
    assert [t.numpy().tolist() for t in tensors[:3]] == [[1, 2, 3], [1, 2, 3], [3, 2, 1]]
    assert tensors[3].numpy().tolist() == [[1, 2, 3], [1, 2, 3]]
    assert added.numpy().tolist() == [1, 2, 3]
    assert reshaped.numpy().tolist() == [[1], [2], [3]]


# --- devices ------------------------------------------------------------------------------------------------------


def test_a_copy_on_a_device_is_a_new_tensor() -> None:
    x = ag.constant([1.0, 2.0])
    copied = x.cpu()
    assert copied is not x
    assert copied.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert copied.numpy().tolist() == [1.0, 2.0]

"""Tensor: texts, Python protocols, indexing, NumPy's functions, mixed operands."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError


def test_a_tensor_is_made_by_an_op() -> None:
    with pytest.raises(TypeError) as caught:
        ag.Tensor()
    assert str(caught.value) == (
        "A Tensor is made by an op, such as tf.constant or tf.convert_to_tensor; Tensor() itself makes none."
    )


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
    with pytest.raises(ValueError, match="Non-boolean") as caught:
        bool(ag.constant(1))
    assert str(caught.value) == (
        "Non-boolean tensor of dtype int32 and shape () cannot be converted to boolean; "
        "compare it first, such as x > 0 or tf.not_equal(x, 0)."
    )
    with pytest.raises(ValueError, match="Non-scalar") as caught:
        bool(ag.constant([True, False]))
    assert str(caught.value) == (
        "Non-scalar tensor of shape (2,) cannot be converted to boolean; use tf.reduce_all or tf.reduce_any first."
    )


def test_numbers() -> None:
    assert float(ag.constant(2.5)) == 2.5
    assert float(ag.constant([[2.5]])) == 2.5
    assert int(ag.constant(-2.5)) == -2
    assert complex(ag.constant(1 + 2j)) == 1 + 2j
    assert "%.2f" % ag.constant([2.5]) == "2.50"  # noqa: UP031
    assert math.sqrt(ag.constant(9.0)) == 3.0
    for convert, what in ((float, "float"), (int, "int"), (complex, "complex")):
        with pytest.raises(TypeError) as caught:
            convert(ag.constant([1.0, 2.0]))
        assert (
            str(caught.value) == f"Only a tensor with one element can be converted to {what}; this one has shape (2,)."
        )


def test_index() -> None:
    assert ["a", "b"][ag.constant(1)] == "b"
    assert list(range(ag.constant(3))) == [0, 1, 2]
    with pytest.raises(TypeError) as caught:
        ["a", "b"][ag.constant(1.0)]
    assert str(caught.value) == (
        "Only a tensor of integers can be used as an index; this one has dtype float32. Cast it with tf.cast."
    )
    with pytest.raises(TypeError) as caught:
        ["a", "b"][ag.constant([0, 1])]
    assert str(caught.value) == "Only a tensor with one element can be converted to an index; this one has shape (2,)."


def test_len_and_iteration() -> None:
    x = ag.constant([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3
    assert [row.numpy().tolist() for row in x] == [[1, 2], [3, 4], [5, 6]]
    first, *_ = x
    assert isinstance(first, ag.Tensor)
    assert list(ag.constant(np.zeros((0, 2)))) == []
    with pytest.raises(TypeError) as caught:
        len(ag.constant(1))
    assert str(caught.value) == "A scalar tensor has no len()."
    with pytest.raises(TypeError) as caught:
        iter(ag.constant(1))
    assert str(caught.value) == "Cannot iterate over a scalar tensor."


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
    assert f"{ag.constant([1, 2])}" == "tf.Tensor([1 2], shape=(2,), dtype=int32)"
    with pytest.raises(TypeError) as caught:
        format(ag.constant([1.0, 2.0]), ".2f")
    assert str(caught.value) == "The format '.2f' is for one number; this tensor has shape (2,)."


def test_shape_attributes() -> None:
    x = ag.constant([[1, 2, 3], [4, 5, 6]])
    assert x.shape == (2, 3)
    assert x.get_shape() == x.shape
    assert x.ndim == 2
    x.set_shape([None, 3])
    with pytest.raises(ValueError, match="compatible") as caught:
        x.set_shape((3, 2))
    assert str(caught.value) == "Tensor's shape (2, 3) is not compatible with supplied shape (3, 2)"


def test_copies_are_the_tensor_itself() -> None:
    x = ag.constant([1.0])
    assert copy.copy(x) is x
    assert copy.deepcopy([x])[0] is x


@pytest.mark.parametrize("dtype", [d.name for d in sorted(ag.dtypes.ALL, key=lambda d: d.name)])
def test_pickle(dtype: str) -> None:
    x = ag.constant([b"a\0", b"b"]) if dtype == "string" else ag.cast([0, 1], dtype)
    back = pickle.loads(pickle.dumps(x))
    assert back.dtype is x.dtype
    assert back.numpy().tolist() == x.numpy().tolist()


# --- indexing -----------------------------------------------------------------------------------------------------

GRID = np.arange(24).reshape(2, 3, 4)
SLICES = [
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    slice(5, 0, -2),
    slice(-3, -1),
    slice(3, 1),
    slice(-9, 9, 2),
]
KEYS: list[Any] = [
    *[0, -1, (1, 2), (1, 2, 3), (-1, -1, -1), ..., (..., 0), (0, ...), (1, ..., -2), None, (None, 1), (1, None, 2)],
    *[(..., None), (None, ..., None), (0, ..., None, 1), (), np.int64(1), (np.int8(1), np.uint8(2))],
    *SLICES,
    *[(slice(None), s) for s in SLICES],
    *[(..., s) for s in SLICES],
    *[(s, 1, t) for s in SLICES[:3] for t in SLICES[1:4]],
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_indexing_is_numpys(key: Any) -> None:
    got = ag.constant(GRID)[key]
    expected = GRID[key]
    assert got.shape == expected.shape
    assert np.array_equal(got.numpy(), expected)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_the_gradient_of_indexing_goes_where_the_elements_came_from(key: Any) -> None:
    x = ag.constant(GRID, dtype=ag.float64)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x[key] * x[key]
    expected = np.zeros(GRID.shape)
    expected[key] = 2 * GRID[key]
    assert np.array_equal(tape.gradient(y, x).numpy(), expected)


def test_indexing_with_tensors() -> None:
    x = ag.constant(GRID)
    assert np.array_equal(x[ag.constant(1), ag.constant(0) : ag.constant(2)].numpy(), GRID[1, 0:2])
    assert np.array_equal(x[ag.Variable(1)].numpy(), GRID[1])


@pytest.mark.parametrize(
    ("key", "kind", "text"),
    [
        (5, InvalidArgumentError, "slice index 5 of dimension 0 out of bounds."),
        ((0, -4), InvalidArgumentError, "slice index -4 of dimension 1 out of bounds."),
        (
            (0, 0, 0, 0),
            InvalidArgumentError,
            "strided_slice: 4 indices are too many for a tensor of shape (2, 3, 4).",
        ),
        ((..., ...), InvalidArgumentError, "strided_slice: an index can have only one ellipsis (...)."),
        (slice(None, None, 0), InvalidArgumentError, "strided_slice: the step of axis 0 is zero."),
        (
            "a",
            TypeError,
            "Tensor indices are ints, slices, ..., None and scalar tensors of integers; got 'a' of type str.",
        ),
        (
            1.0,
            TypeError,
            "Tensor indices are ints, slices, ..., None and scalar tensors of integers; got 1.0 of type float.",
        ),
        (
            True,
            TypeError,
            "Tensor indices are ints, slices, ..., None and scalar tensors of integers; got True of type bool.",
        ),
    ],
)
def test_indexing_errors(key: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        ag.constant(GRID)[key]
    assert str(caught.value) == text


def test_tensors_cannot_be_assigned_to() -> None:
    x: Any = ag.constant([1, 2])
    with pytest.raises(TypeError, match="does not support item assignment"):
        x[0] = 5


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


# --- mixed operands -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("number", [0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, 3, -7, 10**9])
def test_python_numbers_take_the_tensors_dtype(dtype: str, number: float) -> None:
    x = ag.cast([1.0, -2.0], dtype)
    with np.errstate(all="ignore"):
        expected = np.asarray(number).astype(x.dtype.numpy_dtype)
    for got in (x + number, number + x, ag.maximum(number, x)):
        assert got.dtype is x.dtype
    got_zero = (ag.cast([-0.0], dtype) + number).numpy()
    assert np.array_equal(got_zero, np.array([expected], x.dtype.numpy_dtype), equal_nan=True)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_the_sign_of_zero_is_kept() -> None:
    x = ag.constant([-0.0])
    assert math.copysign(1, float((x + 0.0)[0])) == 1
    assert math.copysign(1, float((x + -0.0)[0])) == -1
    assert math.copysign(1, float((x + 0)[0])) == 1
    one = ag.constant([1.0])
    assert (one / 0.0).numpy().tolist() == [math.inf]
    assert (one / -0.0).numpy().tolist() == [-math.inf]


def test_large_python_ints() -> None:
    assert float(ag.constant(1.0) * 10**20) == np.float32(1e20)
    assert float(2**70 * ag.constant(1.0, dtype=ag.float64)) == 2.0**70
    assert int(ag.constant(0, dtype=ag.int64) + 2**62) == 2**62
    assert int(ag.constant(0, dtype=ag.uint64) + (2**64 - 1)) == 2**64 - 1
    for dtype, number in (("int32", 2**31), ("int64", 2**63), ("int64", 2**64), ("uint8", -1), ("int8", 128)):
        with pytest.raises(TypeError) as caught:
            ag.constant(0, dtype=dtype) + number
        assert str(caught.value) == (
            f"add: y is {number}, which does not fit x of dtype {dtype}; its integers go from "
            f"{ag.as_dtype(dtype).min} to {ag.as_dtype(dtype).max}."
        )


def test_a_float_beside_a_tensor_of_integers_is_an_error() -> None:
    x = ag.constant([1, 2])
    with pytest.raises(TypeError) as caught:
        x + 1.5
    assert str(caught.value) == (
        "add: y is 1.5, which does not fit x of dtype int32; cast x, such as tf.cast(x, tf.float32)."
    )
    with pytest.raises(TypeError) as caught:
        1.5 - x
    assert str(caught.value) == (
        "subtract: x is 1.5, which does not fit y of dtype int32; cast y, such as tf.cast(y, tf.float32)."
    )
    with pytest.raises(TypeError) as caught:
        x * np.array([1.0, 2.0])
    assert str(caught.value) == (
        "multiply: y is a value of dtype float64 and shape (2,), which does not fit x of dtype int32; "
        "cast x, such as tf.cast(x, tf.float32)."
    )
    with pytest.raises(TypeError) as caught:
        ag.constant([1.0]) + 1j
    assert str(caught.value) == (
        "add: y is 1j, which does not fit x of dtype float32; cast x, such as tf.cast(x, tf.complex128)."
    )


def test_bools_and_strings_are_no_numbers() -> None:
    with pytest.raises(TypeError) as caught:
        ag.constant([1.0]) + True
    assert str(caught.value) == "add: y is True, which does not fit x of dtype float32; convert it first."
    with pytest.raises(TypeError) as caught:
        ag.constant([1.0]) + "a"
    assert str(caught.value) == (
        "add: y is a value of dtype string and shape (), which does not fit x of dtype float32; convert it first."
    )
    with pytest.raises(ValueError, match="None") as value_error:
        ag.constant([1.0]) + None
    assert str(value_error.value) == (
        "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
    )


def test_two_tensors_of_different_dtypes_are_an_error() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        ag.constant([1.0, 2.0]) + ag.constant(1)
    assert str(caught.value) == (
        "add: x has dtype float32 and y has dtype int32 (shapes (2,) and ()), but they must be of one dtype; "
        "cast one of them, such as tf.cast(y, tf.float32)."
    )
    with pytest.raises(InvalidArgumentError) as caught:
        ag.matmul(ag.constant([[1.0]]), ag.constant([[1.0]], dtype=ag.float64))
    assert str(caught.value) == (
        "matmul: a has dtype float32 and b has dtype float64 (shapes (1, 1) and (1, 1)), but they must be of one "
        "dtype; cast one of them, such as tf.cast(b, tf.float32)."
    )


def test_shapes_that_do_not_broadcast_are_an_error() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        ag.constant([1.0, 2.0]) + ag.constant([1.0, 2.0, 3.0])
    assert str(caught.value) == (
        "add: shapes (2,) and (3,) do not broadcast: sizes 2 and 3 differ and neither is 1. "
        "Reshape, tile or slice one of them."
    )


def test_operands_without_a_tensor() -> None:
    for got, dtype, value in [
        (ag.add(1, 2), "int32", 3),
        (ag.add(1, 2.5), "float32", 3.5),
        (ag.add(2.5, 1), "float32", 3.5),
        (ag.add(np.float64(2.5), 1), "float64", 3.5),
        (ag.add(np.array(2.5), 1.0), "float64", 3.5),
        (ag.add(1.0, np.array(2.5)), "float64", 3.5),
        (ag.add(np.int64(2), 1), "int64", 3),
        (ag.add(1, np.int64(2)), "int64", 3),
    ]:
        assert (got.dtype.name, got.numpy()) == (dtype, value)


def test_division() -> None:
    sevens, twos = ag.constant([7, -7]), ag.constant([2, 2])
    assert (sevens / twos).dtype is ag.float64
    assert (sevens / twos).numpy().tolist() == [3.5, -3.5]
    assert (sevens // twos).numpy().tolist() == [3, -4]
    assert (sevens % twos).numpy().tolist() == [1, 1]
    assert (7 // twos).numpy().tolist() == [3, 3]
    assert (-7 % twos).numpy().tolist() == [1, 1]


def test_logic_operators() -> None:
    a, b = ag.constant([True, True, False]), ag.constant([True, False, False])
    assert (a & b).numpy().tolist() == [True, False, False]
    assert (a | b).numpy().tolist() == [True, True, False]
    assert (a ^ b).numpy().tolist() == [False, True, False]
    assert (~a).numpy().tolist() == [False, False, True]
    assert (True & b).numpy().tolist() == [True, False, False]


# --- devices ------------------------------------------------------------------------------------------------------


def test_a_copy_on_a_device_is_a_new_tensor() -> None:
    x = ag.constant([1.0, 2.0])
    copied = x.cpu()
    assert copied is not x
    assert copied.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert copied.numpy().tolist() == [1.0, 2.0]

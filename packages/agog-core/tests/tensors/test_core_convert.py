"""From Python and NumPy values to tensors: the rules, then a fuzz against a small oracle."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says

RAGGED = "Can't convert non-rectangular Python sequence to Tensor: its rows differ in length."


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        *[(1.0, "float32", ()), (1, "int32", ()), (True, "bool", ()), (1j, "complex128", ()), ("a", "string", ())],
        *[(b"a", "string", ()), ([], "float32", (0,)), ([[], []], "float32", (2, 0)), ([1, 2.5], "float32", (2,))],
        *[(2**31 - 1, "int32", ()), (-(2**31), "int32", ()), (2**31, "int64", ()), (-(2**31) - 1, "int64", ())],
        *[(2**63 - 1, "int64", ()), (2**63, "uint64", ()), ([1, 2**40], "int64", (2,)), (range(3), "int32", (3,))],
        *[(((1, 2), (3, 4)), "int32", (2, 2)), ([(1,), [2]], "int32", (2, 1)), (["a", b"b"], "string", (2,))],
        *[(np.float64(1), "float64", ()), (np.float16(1), "float16", ()), (np.int8(1), "int8", ())],
        *[([np.float64(1), np.float64(2)], "float64", (2,)), ([np.int64(1)], "int64", (1,))],
        *[([np.zeros(2), np.ones(2)], "float64", (2, 2)), ([np.arange(2, dtype=np.int64)], "int64", (1, 2))],
        *[(np.bool_(True), "bool", ()), (np.str_("a"), "string", ()), (np.array(["a", "b"]), "string", (2,))],
        *[(np.array([b"a"], object), "string", (1,)), (np.zeros(2, ml_dtypes.bfloat16), "bfloat16", (2,))],
        *[(np.zeros((2, 0, 3), ">i2"), "int16", (2, 0, 3)), (np.array(5, np.uint8), "uint8", ())],
        *[(np.zeros((2, 3), order="F"), "float64", (2, 3)), ([2**64, 1.5], "float32", (2,))],
    ],
    ids=repr,
)
def test_dtypes_and_shapes(value: Any, dtype: str, shape: tuple[int, ...]) -> None:
    for x in (ag.constant(value), ag.convert_to_tensor(value)):
        assert (x.dtype.name, x.shape.as_list()) == (dtype, list(shape))


@pytest.mark.parametrize("name", sorted(d.name for d in ag.dtypes.NUMERIC_OR_BOOL))
def test_numpy_arrays_keep_their_dtype(name: str) -> None:
    array = np.array([[0, 1], [1, 0]]).astype(ag.as_dtype(name).numpy_dtype)
    for given_array in (array, array.T, array[::-1, ::-1], array[:, 0], array[0, 0]):
        x = ag.constant(given_array)
        assert x.dtype.name == name
        assert x.numpy().dtype == array.dtype
        assert np.array_equal(x.numpy(), given_array)


def test_strings_are_bytes_and_lose_nothing() -> None:
    assert ag.constant("ä").numpy() == "ä".encode()
    assert ag.constant(b"a\0").numpy() == b"a\0"
    assert ag.constant(["a\0", "", b"\xff"]).numpy().tolist() == [b"a\0", b"", b"\xff"]
    assert ag.constant([["a"], ["bcd"]]).numpy().tolist() == [[b"a"], [b"bcd"]]


def test_what_does_not_fit_float32_becomes_infinite() -> None:
    assert ag.constant([1e300, -1e300]).numpy().tolist() == [math.inf, -math.inf]
    assert float(ag.constant(10**200, dtype=ag.float32)) == math.inf


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        *[(1, "float32", 1.0), (1, "float64", 1.0), (1.5, "float16", 1.5), (1.1, "float64", 1.1), (3, "uint8", 3)],
        *[(1, "complex64", 1 + 0j), (1.5, "complex128", 1.5 + 0j), (np.float64(0.5), "float32", 0.5)],
        *[(np.int64(7), "int8", 7), (np.array([1, 2]), "float32", [1.0, 2.0]), ([], "int32", [])],
        *[(2**70, "float64", 2.0**70), (True, "bool", True), ("a", "string", b"a")],
    ],
    ids=repr,
)
def test_a_dtype_that_is_asked_for(value: Any, dtype: str, expected: Any) -> None:
    x = ag.constant(value, dtype)
    assert x.dtype.name == dtype
    assert x.numpy().tolist() == expected if hasattr(x.numpy(), "tolist") else x.numpy() == expected


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (
            1.5,
            "int32",
            "Cannot convert a value of dtype float64 and shape () to a Tensor of dtype int32 without losing something; "
            "convert it first.",
        ),
        (
            300,
            "uint8",
            "Cannot convert a value of dtype int64 and shape () to a Tensor of dtype uint8 without losing something; "
            "convert it first.",
        ),
        (
            [True],
            "float32",
            "Cannot convert a value of dtype bool and shape (1,) to a Tensor of dtype float32 without losing "
            "something; convert it first.",
        ),
        (
            1j,
            "float32",
            "Cannot convert a value of dtype complex128 and shape () to a Tensor of dtype float32 without losing "
            "something; convert it first.",
        ),
        (
            np.array([1.0]),
            "int64",
            "Cannot convert a value of dtype float64 and shape (1,) to a Tensor of dtype int64 without losing "
            "something; convert it first.",
        ),
        (
            ["a"],
            "int32",
            "Cannot convert strings of shape (1,) to a Tensor of dtype int32; use tf.string_to_number.",
        ),
        (
            np.zeros(2, "datetime64[s]"),
            None,
            "Cannot convert dtype('<M8[s]') to a dtype; the dtypes are float16, bfloat16, float32, float64, complex64, "
            "complex128, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, string.",
        ),
    ],
    ids=repr,
)
def test_type_errors(value: Any, dtype: str | None, text: str) -> None:
    with says(TypeError, text):
        ag.constant(value, dtype)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            2**64,
            "Cannot convert 18446744073709551616 to a Tensor: it holds an out-of-range integer, which fits "
            "neither int64 nor uint64.",
        ),
        (
            [2**63, -1],
            "Cannot convert [9223372036854775808, -1] to a Tensor: it holds an out-of-range integer, which fits "
            "neither int64 nor uint64.",
        ),
        ([[1], [2, 3]], RAGGED),
        ([1, [2]], RAGGED),
        ([["a"], ["b", "c"]], RAGGED),
        (["a", ["b"]], RAGGED),
        (None, "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."),
        ([None], "Attempt to convert a value with an unsupported type (NoneType) to a Tensor."),
        ([1, None], "Attempt to convert a value with an unsupported type (NoneType, int) to a Tensor."),
        (["a", None], "Attempt to convert a value with an unsupported type (NoneType, str) to a Tensor."),
        pytest.param(
            object(), "Attempt to convert a value with an unsupported type (object) to a Tensor.", id="object()"
        ),
        ({1, 2}, "Attempt to convert a value with an unsupported type (set) to a Tensor."),
        ({"a": 1}, "Attempt to convert a value with an unsupported type (dict) to a Tensor."),
        (Fraction(1, 2), "Attempt to convert a value with an unsupported type (Fraction) to a Tensor."),
        (
            np.array([1, "a"], object),
            "Cannot convert an array of shape (2,) and dtype object to a Tensor: it holds int, str.",
        ),
        (
            np.array([[1, None]]),
            "Cannot convert an array of shape (1, 2) and dtype object to a Tensor: at [0, 1] it holds None. A number "
            "that is missing is np.nan in an array of floats.",
        ),
        (
            np.array(["a", None], object),
            "Cannot convert an array of shape (2,) and dtype object to a Tensor: at [1] it holds None. A number that "
            "is missing is np.nan in an array of floats.",
        ),
        (
            np.array([1, Fraction(1, 2)]),
            "Cannot convert an array of shape (2,) and dtype object to a Tensor: at [1] it holds a Fraction.",
        ),
        (
            np.array([1, 2.5], object),
            "Cannot convert an array of shape (2,) and dtype object to a Tensor: it holds numbers. Say of which dtype, "
            "as in array.astype('float32').",
        ),
        ([True, 1], "Can't convert Python sequence with mixed types to Tensor: it holds bool, int."),
        ([[1.5], [True]], "Can't convert Python sequence with mixed types to Tensor: it holds bool, float."),
        ([1, "a"], "Can't convert Python sequence with mixed types to Tensor: it holds int, str."),
        (["a", True], "Can't convert Python sequence with mixed types to Tensor: it holds bool, str."),
    ],
    ids=repr,
)
def test_value_errors(value: Any, text: str) -> None:
    with says(ValueError, text):
        ag.constant(value)


def test_tensors_and_variables_are_taken_as_they_are() -> None:
    x, v = ag.constant([1.0, 2.0]), ag.Variable([3.0, 4.0])
    assert ag.convert_to_tensor(x) is x
    assert ag.convert_to_tensor(x, "float32") is x
    assert ag.constant(x) is not x
    assert ag.convert_to_tensor(v).numpy().tolist() == [3.0, 4.0]
    with says(
        ValueError,
        "Tensor conversion requested dtype float64 for a tensor of dtype float32 and shape (2,); "
        "use tf.cast(x, tf.float64).",
    ):
        ag.convert_to_tensor(x, ag.float64)


def test_any_class_may_stand_for_a_tensor() -> None:
    class Celsius:
        def __init__(self, degrees: float) -> None:
            self.degrees = degrees

        def __tensor__(self) -> ag.Tensor:
            return ag.constant(self.degrees + 273.15)

    assert float(ag.convert_to_tensor(Celsius(0.0))) == np.float32(273.15)
    assert float(ag.constant(1.0) + Celsius(0.0)) == np.float32(274.15)
    assert ag.convert_to_tensor([Celsius(0.0), 1.0]).shape == (2,)


def test_lists_with_tensors_are_stacked_and_recorded() -> None:
    x, v = ag.constant(2.0), ag.Variable(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.convert_to_tensor([[x, 1], [5.0, v]])
        z = y * y
    assert y.numpy().tolist() == [[2.0, 1.0], [5.0, 3.0]]
    assert [float(g) for g in tape.gradient(z, [x, v])] == [4.0, 6.0]
    assert ag.convert_to_tensor([1, ag.constant(2.0, dtype=ag.float64)]).dtype is ag.float64
    with says(
        TypeError,
        "Cannot convert a value of dtype float64 and shape () to a Tensor of dtype int32 without losing something; "
        "convert it first.",
    ):
        ag.convert_to_tensor([ag.constant(1), 1.5])
    with pytest.raises((ValueError, InvalidArgumentError)):
        ag.convert_to_tensor([x, [1.0, 2.0]])


def test_preferred_dtype() -> None:
    assert ag.convert_to_tensor(1, preferred_dtype=ag.float64).dtype is ag.float64
    assert ag.convert_to_tensor(1.5, preferred_dtype=ag.int32).dtype is ag.float32
    assert ag.convert_to_tensor(1, "int8", preferred_dtype=ag.float64).dtype is ag.int8


def test_an_integer_beyond_all_floats() -> None:
    with says(
        ValueError, f"Cannot convert {10**310} to a Tensor: out-of-range integer: int too large to convert to float."
    ):
        ag.constant(10**310, ag.float64)


def test_constants_fill_shapes() -> None:
    assert ag.constant(7, shape=(2, 2)).numpy().tolist() == [[7, 7], [7, 7]]
    assert ag.constant([[4]], shape=[2, 1]).numpy().tolist() == [[4], [4]]
    assert ag.constant(4, shape=[0, 1]).numpy().tolist() == []
    assert ag.constant([1, 2], shape=(2, 1)).numpy().tolist() == [[1], [2]]
    assert ag.constant([], shape=(0, 2)).shape == (0, 2)
    text = ag.constant("ab\0", shape=(2,))
    assert text.numpy().dtype == object
    assert text.numpy().tolist() == [b"ab\0", b"ab\0"]
    for size in (2, 4):
        with says(TypeError, f"constant: a value with 3 elements cannot fill shape ({size},) of {size} elements."):
            ag.constant([1, 2, 3], shape=(size,))
    with says(TypeError, "constant: a value with 0 elements cannot fill shape (2,) of 2 elements."):
        ag.constant([], shape=(2,))
    with says(ValueError, "constant: shape (?,) must be fully known."):
        ag.constant(1, shape=(None,))


# --- fuzz ---------------------------------------------------------------------------------------------------------

LEAVES = (
    st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.none()
    | st.sampled_from([np.float64(1.5), np.int8(-3), np.bool_(True), np.float16(2), np.str_("x"), object(), {1}, {}])
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=8)
HOMOGENEOUS = st.one_of(
    *[
        st.recursive(kind, lambda inner: st.lists(inner, max_size=3), max_leaves=8)
        for kind in (st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.integers() | st.floats())
    ]
)


def python_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of nested sequences; None when they are ragged."""
    if not isinstance(value, (list, tuple)):
        return ()
    inner = {python_shape(part) for part in value}
    if len(inner) > 1 or None in inner:
        return None
    return (len(value), *(inner.pop() if inner else ()))


def python_leaves(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for part in value for leaf in python_leaves(part)]


def python_dtype(leaves: list[Any]) -> str | None:
    """The dtype of Python values; None where there is none."""
    kinds = {type(leaf) for leaf in leaves}
    if not kinds:
        return "float32"
    if kinds == {bool}:
        return "bool"
    if kinds <= {str, bytes}:
        return "string"
    if kinds == {int}:
        low, high = min(leaves), max(leaves)
        for name in ("int32", "int64", "uint64"):
            if ag.as_dtype(name).min <= low and high <= ag.as_dtype(name).max:
                return name
        return None
    if kinds <= {int, float}:
        return "float32"
    return "complex128" if kinds <= {int, float, complex} else None


@settings(max_examples=300, deadline=None)
@given(VALUES)
@example([2**64, 1j])
@example([10**400, 1.0])
def test_any_nested_value_gives_a_tensor_or_a_documented_error(value: Any) -> None:
    try:
        x = ag.constant(value)
    except (ValueError, TypeError):
        return
    assert x.shape == python_shape(value)


@settings(max_examples=300, deadline=None)
@given(HOMOGENEOUS | VALUES)
def test_conversion_agrees_with_an_oracle(value: Any) -> None:
    shape, leaves = python_shape(value), python_leaves(value)
    if any(isinstance(leaf, np.generic) for leaf in leaves):
        return
    dtype = python_dtype(leaves)
    if shape is None or dtype is None:
        with pytest.raises((ValueError, TypeError)):
            ag.constant(value)
        return
    x = ag.constant(value)
    assert x.dtype.name == dtype
    assert x.shape == shape
    got = list(np.asarray(x.numpy(), object).reshape(-1)) if dtype == "string" else x.numpy().reshape(-1).tolist()
    with np.errstate(over="ignore"):
        expected = {
            "string": lambda leaf: leaf.encode() if isinstance(leaf, str) else leaf,
            "float32": lambda leaf: float(np.float32(float(leaf))),
            "complex128": complex,
        }.get(dtype, lambda leaf: leaf)
        wanted = [expected(leaf) for leaf in leaves]
    assert repr(got) == repr(wanted)  # nan equals nan, and -0.0 differs from 0.0


@settings(max_examples=200, deadline=None)
@given(VALUES, st.sampled_from(sorted(d.name for d in ag.dtypes.ALL)))
def test_a_dtype_is_given_or_refused(value: Any, dtype: str) -> None:
    try:
        x = ag.constant(value, dtype)
    except (ValueError, TypeError):
        return
    assert x.dtype.name == dtype
    assert x.numpy().dtype == x.dtype.numpy_dtype if x.shape.ndims else True

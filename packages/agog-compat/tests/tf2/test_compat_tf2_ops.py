"""Functions of TensorFlow 2 over ops, against NumPy."""

from __future__ import annotations

import re
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_compat.tf2 import arrays, matrices, quotients, structures, texts
from agog_testing import says

rng = np.random.default_rng(17)


@pytest.mark.parametrize(("repeats", "axis"), [(2, None), (3, 0), ([1, 0, 2], 1), (2, -1), ([2], 0)])
def test_repeat(repeats: Any, axis: int | None) -> None:
    x = rng.normal(size=(2, 3))
    np.testing.assert_array_equal(arrays.repeat(x, repeats, axis).numpy(), np.repeat(x, repeats, axis))


def test_gradients_flow_through_repeat() -> None:
    (gradient,) = ag.gradients_function(lambda x: arrays.repeat(x, [1, 3], 0))([1.0, 2.0])
    assert gradient.numpy().tolist() == [1.0, 3.0]


def test_what_is_a_tensor() -> None:
    sparse = ag.SparseTensor([[0]], [1.0], [2])
    assert [arrays.is_tensor(x) for x in (ag.ones([2]), ag.Variable(1.0), sparse, [1.0], np.ones(2))] == [
        *([True] * 3),
        *([False] * 2),
    ]


A, B = np.array([0.0, 0.0, 2.0, -1.5]), np.array([0.0, np.inf, 3.0, 0.5])
WITHOUT_NAN: dict[str, tuple[Any, list[float], list[float]]] = {
    "xlogy": (quotients.xlogy, [0, 0, 2 * np.log(3), -1.5 * np.log(0.5)], [0, 0, np.log(3), np.log(0.5)]),
    "xlog1py": (quotients.xlog1py, [0, 0, 2 * np.log(4), -1.5 * np.log(1.5)], [0, 0, np.log(4), np.log(1.5)]),
    "xdivy": (quotients.xdivy, [0, 0, 2 / 3, -3], [0, 0, 1 / 3, 2]),
    "multiply_no_nan": (lambda a, b: quotients.multiply_no_nan(b, a), [0, 0, 6, -0.75], [0, 0, 3, 0.5]),
}


@pytest.mark.parametrize("name", WITHOUT_NAN)
def test_nothing_times_anything_is_nothing(name: str) -> None:
    function, values, gradients = WITHOUT_NAN[name]
    np.testing.assert_allclose(function(A, B).numpy(), values, rtol=1e-12)
    (gradient,) = ag.gradients_function(lambda a: function(a, B))(A)
    np.testing.assert_allclose(gradient.numpy(), gradients, rtol=1e-12)


def test_reciprocals_of_nothing() -> None:
    (gradient,) = ag.gradients_function(lambda x: quotients.reciprocal_no_nan(x))([0.0, 4.0])
    assert quotients.reciprocal_no_nan([0.0, 4.0]).numpy().tolist() == [0.0, 0.25]
    assert gradient.numpy().tolist() == [0.0, -0.0625]


def test_shapes_broadcast() -> None:
    assert quotients.xlogy(np.ones((2, 1)), np.ones(3)).shape.as_list() == [2, 3]


def test_lower_and_upper() -> None:
    words = [["ÄB", "Cd"], ["", "x1"]]
    assert texts.lower(words, "utf-8").numpy().tolist() == [["äb".encode(), b"cd"], [b"", b"x1"]]
    assert texts.lower(words).numpy().tolist() == [["Äb".encode(), b"cd"], [b"", b"x1"]]
    assert texts.upper("äb", "utf-8").numpy() == "ÄB".encode()
    with says(ValueError, "upper: encoding must be '' or 'utf-8'; got 'latin'."):
        texts.upper("a", "latin")


def test_products_with_vectors() -> None:
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 4))
    np.testing.assert_allclose(matrices.matvec(a, b).numpy(), np.einsum("bij,bj->bi", a, b), rtol=1e-12)
    transposed = matrices.matvec(a, b[:, :3], transpose_a=True)
    np.testing.assert_allclose(transposed.numpy(), np.einsum("bij,bi->bj", a, b[:, :3]), rtol=1e-12)


def test_norms_are_taken_off() -> None:
    x = rng.normal(size=(3, 4))
    quotient, length = matrices.normalize(x, axis=1)
    np.testing.assert_allclose(length.numpy(), np.linalg.norm(x, axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(quotient.numpy(), x / np.linalg.norm(x, axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 5), (2, 3, 2)])
def test_pseudoinverses(shape: tuple[int, ...]) -> None:
    x = rng.normal(size=shape)
    np.testing.assert_allclose(matrices.pinv(x).numpy(), np.linalg.pinv(x), rtol=1e-8, atol=1e-10)
    x[..., 0, :] = x[..., 1, :]
    np.testing.assert_allclose(matrices.pinv(x).numpy(), np.linalg.pinv(x), rtol=1e-8, atol=1e-10)


def test_structures() -> None:
    structure = {"b": (1, [2]), "a": 3}
    assert structures.map_structure(lambda x, y: x * y, structure, structure) == {"b": (1, [4]), "a": 9}
    assert structures.pack_sequence_as(structure, (7, 8, 9)) == {"b": (8, [9]), "a": 7}
    structures.assert_same_structure([1, (2,)], (1, [2]), check_types=False)


@pytest.mark.parametrize(
    ("one", "other", "kind", "text"),
    [
        ([1, 2], [1], ValueError, "number of elements|One has 2 elements, the other 1"),
        ([[], [2]], [[1], [2]], ValueError, "number of elements|One has 0 elements at [0], the other 1"),
        (
            {"a": [1]},
            {"a": 1},
            ValueError,
            'nested structure|Substructure "type=list str=[1]" is a sequence, while substructure "type=int str=1" '
            "is not",
        ),
        ([(1,)], [[1]], TypeError, "sequence type|One is a tuple at [0], the other a list"),
        ({"a": 1}, {"b": 1}, ValueError, "set of keys|One has the keys ['a'], the other ['b']"),
    ],
)
def test_structures_that_differ(one: Any, other: Any, kind: type[Exception], text: str) -> None:
    for function in (structures.assert_same_structure, lambda *given: structures.map_structure(print, *given)):
        what, found = text.split("|")
        with says(
            kind,
            f"The two structures don't have the same {what}.\n\n"
            f"First structure: type={type(one).__name__} str={one}\n\n"
            f"Second structure: type={type(other).__name__} str={other}\n\nMore specifically: {found}\n"
            f"Entire first structure:\n{dotted(one)}\nEntire second structure:\n{dotted(other)}",
        ):
            function(one, other)


def dotted(structure: Any) -> str:
    return re.sub(r"\d", ".", str(structure))


def test_structures_of_types_that_are_one() -> None:
    point, same, another = (namedtuple(name, "x y") for name in ("Point", "Point", "Vector"))
    structures.assert_same_structure(point(1, 2), same(3, 4))
    structures.assert_same_structure({"a": 1}, OrderedDict(a=2))
    with pytest.raises(TypeError, match="sequence type"):
        structures.assert_same_structure(point(1, 2), another(3, 4))


def test_what_map_structure_needs() -> None:
    with says(TypeError, "map_structure: func must be callable; got 3 of type int."):
        structures.map_structure(3, [1])
    with says(ValueError, "map_structure: give at least one structure."):
        structures.map_structure(len)
    with says(ValueError, "map_structure: Only valid keyword argument is check_types; got fn."):
        structures.map_structure(len, [[1]], fn=3)
    with says(TypeError, "pack_sequence_as: flat_sequence must be a sequence; got 'ab' of type str."):
        structures.pack_sequence_as([1, 2], "ab")

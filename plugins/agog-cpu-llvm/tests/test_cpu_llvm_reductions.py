"""Reductions: along whichever axes, what is compiled has the bits of NumPy's, with what is computed before them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_core.compiler import ArraySpec, Primitive, Subgraph
from agog_cpu_llvm import disk, presence
from agog_cpu_llvm.fusion import compiler, module

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

SPECIAL = [0.0, -0.0, 0.0, -0.0, np.inf, -np.inf, np.nan]


@pytest.fixture(autouse=True)
def _no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "read", lambda key: None)
    monkeypatch.setattr(disk, "write", lambda key, body: None)
    monkeypatch.setattr(compiler, "_units", {})


def spec(array: Any) -> ArraySpec:
    return ArraySpec(array.dtype.name, array.shape, array.strides)


def assert_same_bits(got: np.ndarray, wanted: np.ndarray) -> None:
    """The same bytes; of NaN, only that it is one."""
    numbers = wanted == wanted
    np.testing.assert_array_equal(got == got, numbers)
    assert got[numbers].tobytes() == wanted[numbers].tobytes()


def reduced(x: np.ndarray, name: str, axes: tuple[int, ...], keepdims: bool = False, **options: Any) -> bool:
    """Whether the reduction of -x is taken; then it is compiled and compared, with -x itself as another output."""
    given = {"axis": axes, "dtype": None, "keepdims": keepdims, **options}
    with np.errstate(all="ignore"):
        y = np.negative(x)
        wanted = np.asarray(getattr(np, name).reduce(y, **given))
    values = spec(x), spec(y), spec(wanted)
    primitives = Primitive("ufunc", "negative", (0,), 1, {}), Primitive("reduce", name, (1,), 2, given)
    if not compiler.takes(primitives[1], values):
        return False
    function = compiler.compile(Subgraph(values, {}, (0,), (1, 2), primitives, ()))
    assert function is not None
    elements, out = np.full_like(y, 7), np.full_like(wanted, 9)
    function(x, elements, out)
    assert_same_bits(elements, y)
    assert_same_bits(out, wanted)
    return True


@pytest.mark.parametrize("seed", range(5))
def test_random_reductions_have_numpys_bits(seed: int) -> None:
    print(f"seed {seed}")
    random, taken = np.random.default_rng(seed), 0
    while taken < 5:
        shape = tuple([int(random.choice([1, 2, 3, 5, 8, 17, 33])) for _ in range(random.integers(2, 5))])
        numbers = random.normal(size=shape) * np.exp2(random.integers(-3, 6, shape))
        dtype = str(random.choice(["float32", "float64", "int32", "float16"]))
        if dtype != "int32":
            numbers = np.where(random.random(shape) < 0.05, random.choice(SPECIAL, shape), numbers)
        axes = tuple(sorted(random.choice(len(shape), random.integers(1, len(shape) + 1), replace=False).tolist()))
        name = str(random.choice(["add", "multiply", "maximum", "minimum"]))
        taken += reduced(numbers.astype(dtype), name, axes, bool(random.integers(2)))


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("length", [2, 17, 33, 130])
def test_of_equal_zeros_that_one_is_taken_which_numpy_takes(name: str, length: int) -> None:
    x = np.random.default_rng(length).choice([0.0, -0.0], (40, length))
    assert reduced(x, name, (1,))
    assert reduced(x, name, (0,))


def test_sums_of_rows_of_negative_zeros_begin_as_numpys() -> None:
    assert reduced(np.zeros((3, 5), np.float32), "add", (0,))
    assert reduced(np.zeros((3, 5), np.float32), "add", (0,), initial=2.5)


@pytest.mark.parametrize("length", [3, 100, 700, 5000])
def test_sums_of_float16_are_rounded_once(length: int) -> None:
    x = np.random.default_rng(length).normal(size=(3, length)).astype(np.float16)
    assert reduced(x, "add", (1,))
    assert reduced(x, "add", (1,), initial=0.1)
    assert reduced(x, "maximum", (1,)) == (length < 4097)


@pytest.mark.parametrize(
    ("shape", "axes"), [((70, 100), (0,)), ((3, 4, 50), (0, 1)), ((3, 40, 50), (1,)), ((9, 5), (0,))]
)
def test_two_threads_have_columns_of_their_own(
    shape: tuple[int, ...], axes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 1)
    monkeypatch.setattr("agog_core.threads.count", lambda: 2)
    assert reduced(np.random.default_rng(0).normal(size=shape).astype(np.float32), "add", axes)


def test_what_is_not_in_order_is_declined() -> None:
    x = np.ones((4, 6), np.float32)
    for array in (np.asfortranarray(x), x[:, ::-1], np.broadcast_to(x[:1], x.shape)):
        values = spec(array), spec(np.add.reduce(array, 0))
        assert not compiler.takes(Primitive("reduce", "add", (0,), 1, {"axis": (0,)}), values)


def test_reductions_of_one_element_along_rows_are_none_of_rows() -> None:
    x = np.ones((2, 4, 1), np.float32)
    values = spec(x), spec(np.add.reduce(x, 2))
    assert not compiler.takes(Primitive("reduce", "add", (0,), 1, {"axis": (2,)}), values)
    values = spec(x), spec(np.add.reduce(x, (0, 2)))
    assert compiler.takes(Primitive("reduce", "add", (0,), 1, {"axis": (0, 2)}), values)


def test_what_needs_the_sum_of_rows_is_not_computed_with_it() -> None:
    x, total = np.ones((4, 6), np.float32), np.ones(6, np.float32)
    primitives = (
        Primitive("reduce", "add", (0,), 1, {"axis": (0,), "dtype": None, "keepdims": False}),
        Primitive("ufunc", "add", (0, 1), 2, {}),
    )
    values = spec(x), spec(total), spec(x)
    assert compiler.compile(Subgraph(values, {}, (0,), (1, 2), primitives, ())) is None


def test_sums_of_rows_may_stand_beside_sums_along_them() -> None:
    x = np.random.default_rng(3).normal(size=(20, 30)).astype(np.float32)
    total = np.add.reduce(x, 1, keepdims=True)
    centred = x - total
    options = {"dtype": None, "keepdims": True}
    primitives = (
        Primitive("reduce", "add", (0,), 1, {"axis": (1,), **options}),
        Primitive("ufunc", "subtract", (0, 1), 2, {}),
        Primitive("reduce", "add", (2,), 3, {"axis": (0,), **options}),
    )
    wanted = np.add.reduce(centred, 0, keepdims=True)
    values = spec(x), spec(total), spec(centred), spec(wanted)
    function = compiler.compile(Subgraph(values, {}, (0,), (3,), primitives, ()))
    assert function is not None
    out = np.empty_like(wanted)
    function(x, out)
    assert_same_bits(out, wanted)


@pytest.mark.parametrize("axis", [0, 1])
def test_one_number_that_is_repeated_is_reduced(axis: int) -> None:
    x = np.full((4, 3), 1.1, np.float32)
    wanted = np.add.reduce(x, axis)
    options = {"axis": (axis,), "dtype": None, "keepdims": False}
    primitives = Primitive("copy", "", (0,), 1, {}), Primitive("reduce", "add", (1,), 2, options)
    values = ArraySpec("float32", (), ()), spec(x), spec(wanted)
    function = compiler.compile(Subgraph(values, {}, (0,), (2,), primitives, ()))
    assert function is not None
    out = np.empty_like(wanted)
    function(np.float32(1.1), out)
    assert_same_bits(out, wanted)

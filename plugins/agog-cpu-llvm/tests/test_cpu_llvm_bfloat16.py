"""Bfloat16: computed in float32 and rounded after each function, as ml_dtypes does it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from agog_core.compiler import ArraySpec, Primitive, Subgraph
from agog_cpu_llvm import disk, presence
from agog_cpu_llvm.fusion import compiler

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

UNARY = "negative absolute square sqrt sign floor ceil rint trunc reciprocal isnan isinf isfinite signbit logical_not"
BINARY = "add subtract multiply divide maximum minimum copysign greater less_equal equal not_equal logical_and"
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)  # by whose import NumPy knows the name
SPECIAL = np.array([0, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 1, 0x8001, 0x3F80, 0xBF80, 0x7F7F], np.uint16)


@pytest.fixture(autouse=True)
def _no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "read", lambda key: None)
    monkeypatch.setattr(disk, "write", lambda key, body: None)


def spec(array: Any) -> ArraySpec:
    return ArraySpec(array.dtype.name, array.shape, array.strides)


def compiled(arrays: list[Any], outputs: list[Any], primitives: list[Primitive]) -> list[Any]:
    """What compiled primitives give, whose values are arrays, then outputs."""
    count = len(arrays)
    values = tuple(map(spec, [*arrays, *outputs]))
    assert [p for p in primitives if not compiler.takes(p, values)] == []
    numbers = tuple(range(len(values)))
    function = compiler.compile(Subgraph(values, {}, numbers[:count], numbers[count:], tuple(primitives), ()))
    assert function is not None
    made = [np.empty_like(output) for output in outputs]
    function(*arrays, *made)
    return made


def assert_same_bits(got: Any, wanted: Any, name: str) -> None:
    """The same bytes; of NaN, only that it is one."""
    with np.errstate(invalid="ignore"):  # which ml_dtypes raises for signalling NaN
        numbers, found = ~np.isnan(wanted), ~np.isnan(got)
    np.testing.assert_array_equal(found, numbers, name)
    assert got[numbers].tobytes() == wanted[numbers].tobytes(), name


def pairs() -> list[Any]:
    random = np.random.default_rng(0).integers(0, 1 << 16, 200, np.uint16)
    numbers = np.concatenate([SPECIAL, random]).view(BFLOAT16)
    return [np.ascontiguousarray(each.ravel()) for each in np.meshgrid(numbers, numbers)]


@pytest.mark.parametrize("names", [UNARY.split(), BINARY.split()], ids=["unary", "binary"])
def test_functions_have_the_bits_of_ml_dtypes(names: list[str]) -> None:
    arrays = [np.arange(1 << 16, dtype=np.uint16).view(BFLOAT16)] if "sqrt" in names else pairs()
    with np.errstate(all="ignore"):
        wanted = [np.asarray(getattr(np, name)(*arrays)) for name in names]
    inputs = tuple(range(len(arrays)))
    primitives = [Primitive("ufunc", name, inputs, len(arrays) + n) for n, name in enumerate(names)]
    for name, got, want in zip(names, compiled(arrays, wanted, primitives), wanted, strict=True):
        assert_same_bits(got, want, name)


def test_each_function_is_rounded() -> None:
    x, y = pairs()
    with np.errstate(all="ignore"):
        product = x * y
        total = product + x
    primitives = [Primitive("ufunc", "multiply", (0, 1), 2), Primitive("ufunc", "add", (2, 0), 3)]
    assert_same_bits(compiled([x, y], [product, total], primitives)[1], total, "x * y + x")


@pytest.mark.parametrize(
    ("source", "target"),
    [("float32", "bfloat16"), ("float16", "bfloat16"), ("bool", "bfloat16")]
    + [("bfloat16", each) for each in ("float32", "float64", "float16", "bool")],
)
def test_casts(source: str, target: str) -> None:
    if source == "bool":
        x: Any = np.array([True, False, True])
    elif source == "float32":
        x = np.arange(0, 1 << 32, 65521, np.uint32).view(np.float32)
    else:
        x = np.arange(1 << 16, dtype=np.uint16).view(source)
    with np.errstate(all="ignore"):
        wanted = x.astype(target)
    assert_same_bits(compiled([x], [wanted], [Primitive("cast", "", (0,), 1)])[0], wanted, f"{source} to {target}")


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
def test_reductions_of_rows_are_rounded_after_each_row(name: str) -> None:
    x = np.random.default_rng(1).normal(size=(7, 33)).astype(BFLOAT16)
    wanted = getattr(np, name).reduce(x, 0)
    options = {"axis": (0,), "dtype": None, "keepdims": False}
    assert_same_bits(compiled([x], [wanted], [Primitive("reduce", name, (0,), 1, options)])[0], wanted, name)


@pytest.mark.parametrize(
    ("primitive", "dtypes"),
    [
        (Primitive("ufunc", "tanh", (0,), 1), ("bfloat16", "bfloat16")),
        (Primitive("cast", "", (0,), 1), ("float64", "bfloat16")),
        (Primitive("cast", "", (0,), 1), ("bfloat16", "int32")),
    ],
)
def test_what_is_not_taken(primitive: Primitive, dtypes: tuple[str, ...]) -> None:
    values = [ArraySpec(dtype, (8,), (np.dtype(dtype).itemsize,)) for dtype in dtypes]
    assert compiler.takes(primitive, values) is False


def test_sums_along_rows_are_not_taken() -> None:
    values = [ArraySpec("bfloat16", (4, 8), (16, 2)), ArraySpec("bfloat16", (4,), (2,))]
    assert compiler.takes(Primitive("reduce", "add", (0,), 1, {"axis": (1,), "dtype": None}), values) is False

"""Float16: computed in float32 and rounded after each function, as NumPy does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_core.compiler import ArraySpec, Primitive, Subgraph
from agog_cpu_llvm import presence
from agog_cpu_llvm.fusion import compiler, operations

SENTENCE = presence.unavailable()
pytestmark = [
    pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE)),
    pytest.mark.skipif("float16" not in operations.TYPES, reason="this processor does not convert float16"),
]

UNARY = "negative absolute square sqrt sign floor ceil rint trunc isnan isinf isfinite signbit logical_not reciprocal"
BINARY = "add subtract multiply divide maximum minimum greater less_equal equal not_equal logical_and copysign"
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 6e-8, -6e-8, 65504.0, -65504.0, 1.0, -1.0, 0.1, 3.3]


@pytest.fixture(autouse=True)
def kept_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))


def operands() -> tuple[np.ndarray, np.ndarray]:
    """All pairs of some numbers."""
    random = np.random.default_rng(0).integers(0, 1 << 16, 60, "uint16").view("float16")
    x, y = np.meshgrid(*[np.concatenate([np.array(SPECIAL, "float16"), random])] * 2)
    return np.ascontiguousarray(x.ravel()), np.ascontiguousarray(y.ravel())


def spec(array: Any) -> ArraySpec:
    return ArraySpec(array.dtype.name, array.shape, array.strides)


def compiled(arrays: list[np.ndarray], outputs: list[np.ndarray], primitives: list[Primitive]) -> Any:
    count = len(arrays)
    subgraph = Subgraph(
        tuple(map(spec, [*arrays, *outputs])),
        {},
        tuple(range(count)),
        tuple(range(count, count + len(outputs))),
        tuple(primitives),
    )
    assert all(compiler.takes(primitive, subgraph.values) for primitive in primitives)
    function = compiler.compile(subgraph)
    assert function is not None
    made = [np.empty_like(output) for output in outputs]
    function(*arrays, *made)
    return made


def assert_equal(got: np.ndarray, wanted: np.ndarray, name: str) -> None:
    np.testing.assert_array_equal(got, wanted, name)
    if wanted.dtype.kind == "f":
        is_number = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(got[is_number]), np.signbit(wanted[is_number]), name)


@pytest.mark.parametrize("names", [UNARY.split(), BINARY.split()], ids=["unary", "binary"])
def test_functions(names: list[str]) -> None:
    arrays = list(operands())[: 1 if "sqrt" in names else 2]
    with np.errstate(all="ignore"):
        wanted = [np.asarray(getattr(np, name)(*arrays)) for name in names]
    inputs = tuple(range(len(arrays)))
    primitives = [Primitive("ufunc", name, inputs, len(arrays) + n) for n, name in enumerate(names)]
    for name, got, want in zip(names, compiled(arrays, wanted, primitives), wanted, strict=True):
        assert_equal(got, want, name)


def test_each_function_is_rounded() -> None:
    x, y = operands()
    with np.errstate(all="ignore"):
        product = x * y
        wanted = product + x
    primitives = [Primitive("ufunc", "multiply", (0, 1), 2), Primitive("ufunc", "add", (2, 0), 3)]
    assert_equal(compiled([x, y], [product, wanted], primitives)[1], wanted, "product and sum")


def test_casts() -> None:
    every = np.arange(1 << 16, dtype="uint16").view("float16")
    single = (np.arange(1 << 16, dtype="uint32") * 65521).view("float32")
    flags = every > 0
    for array, dtypes in ((every, ("float32", "float64", "bool")), (single, ("float16",)), (flags, ("float16",))):
        for dtype in dtypes:
            with np.errstate(all="ignore"):
                wanted = array.astype(dtype)
            assert_equal(compiled([array], [wanted], [Primitive("cast", "", (0,), 1)])[0], wanted, dtype)


@pytest.mark.parametrize(
    ("primitive", "dtypes"),
    [
        (Primitive("cast", "", (0,), 1), ("float64", "float16")),  # which NumPy rounds once
        (Primitive("cast", "", (0,), 1), ("int32", "float16")),
        (Primitive("cast", "", (0,), 1), ("float16", "int32")),
        (Primitive("ufunc", "exp", (0,), 1), ("float16", "float16")),
    ],
)
def test_what_is_not_taken(primitive: Primitive, dtypes: tuple[str, ...]) -> None:
    values = [ArraySpec(dtype, (8,), (np.dtype(dtype).itemsize,)) for dtype in dtypes]
    assert compiler.takes(primitive, values) is False

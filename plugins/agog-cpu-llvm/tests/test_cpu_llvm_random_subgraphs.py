"""Random subgraphs: what is compiled has the bits of NumPy's functions, called one by one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agog_core.compiler import ArraySpec, Primitive, Subgraph
from agog_cpu_llvm import presence
from agog_cpu_llvm.fusion.compiler import compile, takes
from agog_cpu_llvm.fusion.limits import keeps_last_axis

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

COUNT = int(os.environ.get("AGOG_RANDOM_SUBGRAPHS", "60"))
SHAPES = [
    (),
    (1,),
    (3,),
    (17,),
    (1000,),
    (4, 3),
    (1, 5),
    (7, 1),
    (2, 3, 5),
    (5, 129),
    (3, 700),
    (2, 1, 8),
    (0, 4),
    (64, 64),
]
UNARY = (
    "negative absolute square sqrt sign exp log tanh log1p expm1 sin cos floor ceil rint trunc isnan isfinite signbit"
)
UNARY += " logical_not reciprocal positive arctan isinf"
BINARY = (
    "add subtract multiply divide maximum minimum greater less_equal equal not_equal logical_and logical_or copysign"
)
DTYPES = ("float32", "float32", "float32", "float64", "float16", "bool", "int32", "int64")
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3e38, 1.0, -1.0, 88.8, -104.0]


def numbers(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Numbers of all sorts."""
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype.startswith("int"):
        limits = np.iinfo(dtype)
        few = random.integers(-5, 6, shape)
        return np.where(random.random(shape) < 0.1, random.choice([limits.min, limits.max], shape), few).astype(dtype)
    common = random.normal(size=shape) * 3
    with np.errstate(over="ignore"):  # in float16
        return np.where(random.random(shape) < 0.1, random.choice(SPECIAL, shape), common).astype(dtype)


def laid_out(random: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """The same numbers in memory of another layout."""
    match random.integers(6):
        case 0:
            return np.asfortranarray(array)
        case 1 if array.ndim:  # with gaps
            wide = np.zeros((*array.shape[:-1], array.shape[-1] * 2 + 1), array.dtype)
            wide[..., 1::2] = array
            return wide[..., 1::2]
        case 2 if array.ndim:  # backwards
            return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
        case 3 if array.ndim:  # repeated
            return np.broadcast_to(array[..., :1], array.shape)
    return array


def spec(array: Any) -> ArraySpec:
    return ArraySpec(array.dtype.name, array.shape, array.strides)


def computed(primitive: Primitive, operands: list[Any], dtype: str) -> np.ndarray:
    """What NumPy gives for a primitive."""
    with np.errstate(all="ignore"):
        match primitive.kind:
            case "ufunc":
                return np.asarray(getattr(np, primitive.name)(*operands))
            case "reduce":
                return np.asarray(getattr(np, primitive.name).reduce(operands[0], **primitive.options))
            case "where":
                return np.where(*operands)
            case "cast":
                return np.asarray(operands[0]).astype(dtype)
            case "bits":
                return np.asarray(operands[0]).view(dtype)
        return np.array(operands[0])


class Program:
    """A random subgraph, with arrays for its values as NumPy computes them."""

    def __init__(self, seed: int) -> None:
        self.random = random = np.random.default_rng(seed)
        self.shape = SHAPES[random.integers(len(SHAPES))]
        self.arrays: list[Any] = []
        self.primitives: list[Primitive] = []
        self.constants: dict[int, Any] = {}
        self.inputs: list[int] = []
        self.last: set[int] = set()  # what nothing may need
        for _ in range(random.integers(1, 5)):
            self.leaf()
        for _ in range(random.integers(1, 14)):
            self.step()

    def leaf(self) -> int:
        random, shape = self.random, self.shape
        match random.integers(5):
            case 0:
                shape = ()
            case 1:
                shape = shape[random.integers(len(shape) + 1) :]
            case 2:
                shape = tuple([1 if random.random() < 0.5 else size for size in shape])
        array = laid_out(random, numbers(random, shape, DTYPES[random.integers(len(DTYPES))]))
        self.arrays.append(array if shape else array[()])
        number = len(self.arrays) - 1
        if random.random() < 0.3:
            self.constants[number] = np.asarray(array)
        else:
            self.inputs.append(number)
        return number

    def pick(self) -> int:
        if self.random.random() < 0.1:
            return self.leaf()
        return int(self.random.choice([n for n in range(len(self.arrays)) if n not in self.last]))

    def step(self) -> None:
        random = self.random
        match random.integers(10):
            case 0:
                self.add("where", "", (self.pick(), self.pick(), self.pick()))
            case 1:
                self.add("cast", "", (self.pick(),), dtype=DTYPES[random.integers(len(DTYPES))])
            case 2 if random.random() < 0.3:
                value = self.pick()
                name = {"int32": "float32", "int64": "float64"}.get(self.arrays[value].dtype.name)
                if name is not None:
                    self.add("bits", "", (value,), dtype=name)
            case 2 | 3:
                value = self.pick()
                rank = np.ndim(self.arrays[value])
                if rank:
                    axes = tuple(range(int(random.integers(rank)), rank))
                    if rank > 1 and random.random() < 0.3:  # of rows, which nothing else may need
                        axes = tuple(sorted(random.choice(rank, int(random.integers(1, rank)), replace=False).tolist()))
                    options = {"axis": axes, "dtype": None, "keepdims": bool(random.random() < 0.7)}
                    name = ("add", "maximum", "minimum", "multiply")[random.integers(4)]
                    if name in ("maximum", "minimum") and random.random() < 0.5:
                        options["initial"] = -np.inf if name == "maximum" else np.inf
                    self.add("reduce", name, (value,), options)
            case 4 | 5 | 6:
                self.add("ufunc", random.choice(UNARY.split()), (self.pick(),))
            case _:
                self.add("ufunc", random.choice(BINARY.split()), (self.pick(), self.pick()))

    def add(self, kind: str, name: str, inputs: tuple[int, ...], options: Any = None, dtype: str = "") -> None:
        """One step more, where NumPy has it and the compiler takes it."""
        primitive = Primitive(kind, str(name), inputs, len(self.arrays), options or {})
        try:
            result = computed(primitive, [self.arrays[value] for value in inputs], dtype)
        except (TypeError, ValueError, OverflowError):
            return
        values = [spec(array) for array in [*self.arrays, result]]
        if takes(primitive, values):
            self.last |= {primitive.output} if keeps_last_axis(primitive, values) else set()
            self.arrays.append(result)
            self.primitives.append(primitive)

    def subgraph(self, overwrites: bool) -> Subgraph:
        used = {value for primitive in self.primitives for value in primitive.inputs}
        made = [primitive.output for primitive in self.primitives]
        outputs = [value for value in made if value not in used or self.random.random() < 0.2]
        inputs = [value for value in self.inputs if value in used]
        pairs, left = [], [value for value in inputs if np.ndim(self.arrays[value])]
        for output in outputs if overwrites else ():
            for given in left:
                is_free = output not in self.last and self.random.random() < 0.8
                if is_free and spec(self.arrays[output]) == spec(self.arrays[given]):
                    pairs.append((output, given))
                    left.remove(given)
                    break
        constants = {value: array for value, array in self.constants.items() if value in used}
        specs = tuple([spec(array) for array in self.arrays])
        return Subgraph(specs, constants, tuple(inputs), tuple(outputs), tuple(self.primitives), tuple(pairs))


def like(array: np.ndarray) -> np.ndarray:
    """Memory with the same strides."""
    ends = [(size - 1) * step for size, step in zip(array.shape, array.strides, strict=True)]
    low, high = sum(end for end in ends if end < 0), sum(end for end in ends if end > 0)
    memory = np.zeros(high - low + array.itemsize, np.uint8)
    return np.ndarray(array.shape, array.dtype, memory, -low, array.strides)


def assert_same_bits(got: np.ndarray, wanted: np.ndarray) -> None:
    """Each number is the same, zeros with their signs; of NaN, only that it is one."""
    np.testing.assert_array_equal(got, wanted)
    if wanted.dtype.kind == "f":
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(wanted[numbers]))


def check(program: Program, subgraph: Subgraph, function: Callable[..., None]) -> None:
    given = {}
    for value in subgraph.inputs:
        array = program.arrays[value]
        given[value] = array
        if any(value == pair[1] for pair in subgraph.overwrites):
            given[value] = like(array)
            given[value][...] = array
    overwritten = dict(subgraph.overwrites)
    results = [
        given[overwritten[output]] if output in overwritten else like(program.arrays[output])
        for output in subgraph.outputs
    ]
    assert function(*given.values(), *results) is None
    for output, result in zip(subgraph.outputs, results, strict=True):
        assert_same_bits(result, program.arrays[output])
    for value in subgraph.inputs:
        if value not in overwritten.values():
            np.testing.assert_array_equal(given[value], program.arrays[value])


@pytest.mark.parametrize("first", range(0, COUNT, 20))
def test_bits_are_those_of_numpy(first: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))
    compiled = 0
    for seed in range(first, min(first + 20, COUNT)):
        program = Program(seed)
        for overwrites in (False, True):
            subgraph = program.subgraph(overwrites)
            if not subgraph.outputs:
                continue
            function = compile(subgraph)
            if function is not None:
                compiled += 1
                try:
                    check(program, subgraph, function)
                except BaseException:
                    print(f"seed {seed}, overwrites {subgraph.overwrites}: {subgraph}")
                    raise
    assert compiled > 10

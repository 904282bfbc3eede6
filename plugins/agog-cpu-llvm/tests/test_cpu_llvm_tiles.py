"""Tiles: what kernels are written with, against NumPy, with the lanes of each kind of processor."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_cpu_llvm import disk, presence

SENTENCE = presence.unavailable()
if SENTENCE is not None:
    pytest.skip(str(SENTENCE), allow_module_level=True)

ml_dtypes = pytest.importorskip("ml_dtypes")

from agog_cpu_llvm.tiles import Function, Lanes, entry, multiplied  # noqa: E402
from agog_cpu_llvm.units import bits, call, unit  # noqa: E402

WIDTHS = [Lanes(16), Lanes(8), Lanes(4), Lanes(8, True), Lanes(4, True), Lanes(2, True)]
DTYPES = ["float16", "bfloat16", "float32", "float64", "uint8", "int32", "int64"]
KINDS = {"x": "*float32", "out": "*float32", "n": "index"}
_numbers = count()


@pytest.fixture(autouse=True)
def kept_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))


def run(
    write: Callable[..., Any], words: tuple[int, ...], lanes: Lanes, dtype: str = "float32", scratch: int = 0
) -> None:
    """Compile the one entry of a module under a name of its own, and call it."""
    (address,) = unit(f"test{next(_numbers)}", write, dtype, lanes).values()
    call(address, words, scratch)


def address(array: Any) -> int:
    return int(array.ctypes.data)


@pytest.mark.parametrize("lanes", WIDTHS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_converted_as_numpy_converts_them(dtype: str, lanes: Lanes) -> None:
    kind, size = np.dtype(dtype), 4 * lanes.count
    x = np.arange(-7, size - 7).astype(kind)
    if dtype.startswith(("float", "bfloat")):
        x[:5] = [np.nan, np.inf, -np.inf, -0.0, 1.0009765625]
    read, written = np.zeros(size, lanes.dtype), np.zeros(size, kind)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        with entry(module, "f", {"x": f"*{dtype}", "read": f"*{lanes.dtype}", "written": f"*{dtype}"}) as (_, words, _):
            for n in range(0, 4 * lanes.count, lanes.count):
                vector = lanes.load(words.x + n)
                lanes.store(vector, words.read + n)
                lanes.store(vector, words.written + n)

    run(write, (address(x), address(read), address(written)), lanes, dtype)
    np.testing.assert_array_equal(read, x.astype(lanes.dtype))
    np.testing.assert_array_equal(written.astype(np.float64), x.astype(np.float64))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numbers_are_rounded_to_the_nearest_and_of_two_to_the_even_one(dtype: str) -> None:
    random = np.random.default_rng(0)
    bits = random.integers(0, 1 << 32, 4096, dtype=np.uint32)
    bits[:4] = [0x3F808000, 0x3F818000, 0x7F7FFFFF, 0xFF800001]  # two halves between, the largest, a NaN
    x, out = bits.view(np.float32), np.zeros(4096, dtype)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        kinds = {"x": "*float32", "out": f"*{dtype}"}
        with entry(module, "f", kinds) as (code, words, _), code.loop(0, 4096, lanes.count) as loop:
            lanes.store(lanes.load(words.x + loop.index), words.out + loop.index)

    run(write, (address(x), address(out)), Lanes(16), dtype)
    with np.errstate(all="ignore"):
        expected = x.astype(dtype)
    is_normal = ~(np.abs(x) < 6.2e-5) if dtype == "float16" else ~(np.abs(x) < np.finfo(np.float32).tiny)
    np.testing.assert_array_equal(out[is_normal].astype(np.float64), expected[is_normal].astype(np.float64))


@pytest.mark.parametrize("lanes", WIDTHS, ids=str)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "uint8"])
def test_a_mask_leaves_memory_behind_it_alone(dtype: str, lanes: Lanes) -> None:
    for length in (0, 1, lanes.count - 1, lanes.count, lanes.count + 1):
        x, out = np.ones(lanes.count, dtype), np.full(lanes.count + 1, 7, dtype)

        def write(module: Any, dtype: str, lanes: Lanes) -> None:
            with entry(module, "f", {"x": f"*{dtype}", "out": f"*{dtype}", "n": "index"}) as (_, words, _):
                mask = lanes.first(words.n)
                lanes.store(lanes.load(words.x, mask) + 1.0, words.out, mask)

        run(write, (address(x), address(out), length), lanes, dtype)
        taken = min(length, lanes.count)
        np.testing.assert_array_equal(out, np.array([2] * taken + [7] * (lanes.count + 1 - taken), dtype))


@pytest.mark.parametrize("lanes", WIDTHS, ids=str)
def test_arithmetic_is_that_of_numpy(lanes: Lanes) -> None:
    random = np.random.default_rng(0)
    x, y = (random.normal(size=lanes.count).astype(lanes.dtype) * 3 for _ in range(2))
    x[0], y[1] = np.nan, x[1]
    functions: list[tuple[Any, Any]] = [
        (lambda a, b: a + b, x + y),
        (lambda a, b: 2.0 - a * b, 2 - x * y),
        (lambda a, b: -(a / b), -(x / y)),
        (lambda a, b: 1.0 / b - 1.0, 1 / y - 1),
        (lambda a, b: a.absolute().root(), np.sqrt(np.abs(x))),
        (lambda a, b: a.rounded(), np.rint(x)),
        (lambda a, b: (a < b).select(a, b), np.where(x < y, x, y)),
        (lambda a, b: ((a > b) | a.is_nan()).select(a, b), np.where((x > y) | np.isnan(x), x, y)),
        (lambda a, b: (~a.equals(b) & (b > 0.0)).select(a, b), np.where((x != y) & (y > 0), x, y)),
    ]
    out = np.zeros((len(functions), lanes.count), lanes.dtype)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        kind = f"*{lanes.dtype}"
        with entry(module, "f", {"x": kind, "y": kind, "out": kind}) as (_, words, _):
            for n, (function, _expected) in enumerate(functions):
                lanes.store(function(lanes.load(words.x), lanes.load(words.y)), words.out + n * lanes.count)

    run(write, (address(x), address(y), address(out)), lanes)
    np.testing.assert_array_equal(out, np.array([expected for _, expected in functions]))


@pytest.mark.parametrize("lanes", WIDTHS, ids=str)
def test_lanes_become_one_number(lanes: Lanes) -> None:
    x = np.random.default_rng(0).normal(size=lanes.count).astype(lanes.dtype)
    out = np.zeros(4, lanes.dtype)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        with entry(module, "f", {"x": f"*{lanes.dtype}", "out": f"*{lanes.dtype}", "half": "float64"}) as (
            code,
            words,
            _,
        ):
            vector = lanes.load(words.x)
            lanes.put(vector.total(), words.out)
            lanes.put(vector.largest(), words.out + 1)
            lanes.put(lanes.scalar(words.x), words.out + 2)
            lanes.put((lanes.splat(code, lanes.converted(words.half)) * vector).largest(), words.out + 3)

    run(write, (address(x), address(out), bits(0.5)), lanes)
    np.testing.assert_allclose(out[0], x.sum(dtype=np.float64), rtol=1e-6, atol=1e-6)
    assert out[1:].tolist() == [x.max(), x[0], x.max() / 2]


def test_indices_are_integers() -> None:
    functions: list[Any] = [
        lambda i, j: i + j * 3 - 1,
        lambda i, j: 100 - i,
        lambda i, j: i // j,
        lambda i, j: i % j,
        lambda i, j: i.least(j),
        lambda i, j: i.most(j),
        lambda i, j: (i < j).select(i, j),
        lambda i, j: ((i >= 17) & ~i.equals(5)).select(i, j),
        lambda i, j: ((i <= j) | (i > 16)).select(i, j),
    ]
    out = np.zeros(len(functions), np.int32)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        with entry(module, "f", {"i": "index", "j": "index", "out": "*int32"}) as (_, words, _):
            for n, function in enumerate(functions):
                (words.out + n).set_integer(function(words.i, words.j))

    run(write, (17, 5, address(out)), Lanes(4))
    assert out.tolist() == [31, 83, 3, 2, 5, 17, 5, 17, 17]


@pytest.mark.parametrize(("first", "end", "step"), [(0, 5, 1), (2, 9, 3), (0, 0, 1), (3, 3, 2), (5, 2, 1), (0, 1, 7)])
def test_a_loop_carries_values_and_may_be_empty(first: int, end: int, step: int) -> None:
    out = np.zeros(2, np.int64)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        with entry(module, "f", {"first": "index", "end": "index", "step": "index", "out": "*int64"}) as (
            code,
            words,
            _,
        ):
            begin = [code.number(100), code.number(0)]
            with code.loop(words.first, words.end, words.step, begin, may_be_empty=True) as loop:
                total, turns = loop.carried
                loop.carry(total + loop.index, turns + 1)
            for n, result in enumerate(loop.results):
                (words.out + n).set_integer(result)

    run(write, (first, end, step, address(out)), Lanes(4))
    assert out.tolist() == [100 + sum(range(first, end, step)), len(range(first, end, step))]


def test_a_function_is_chosen_by_a_number() -> None:
    out = np.zeros(5, np.int64)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        functions = {}
        for n in (1, 3):
            functions[n] = function = Function(module, f"set{n}", out="*int64", i="index")
            place, i = function.parameters
            with function.code.when(i > 0):
                place.set_integer(i * 10 + n)
            function.end()
        with entry(module, "f", {"out": "*int64"}) as (code, words, _), code.loop(0, 5) as loop:
            code.choose(loop.index, functions, words.out + loop.index, loop.index)

    run(write, (address(out),), Lanes(4))
    assert out.tolist() == [0, 11, 0, 33, 0]


def test_threads_share_turns() -> None:
    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        with (
            entry(module, "f", {"out": "*int64", "n": "index"}) as (code, words, _),
            code.turns(words.counter, words.n) as turn,
        ):
            place = words.out + turn
            place.set_integer(place.integer() + turn + 1)

    (place,) = unit("test of turns", write, "float32").values()
    size = 20_000
    out = np.zeros(size, np.int64)
    words = (ctypes.c_int64 * 3)(0, address(out), size)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(place)
    threads = [threading.Thread(target=function, args=(ctypes.addressof(words), None)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(out, np.arange(1, size + 1))


def test_scratch_memory_and_that_of_the_stack_are_aligned() -> None:
    out = np.zeros(2, np.int64)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        with entry(module, "f", {"out": "*int64"}) as (code, words, scratch):
            stack = code.memory("float32", 33)
            lanes.store(lanes.splat(code, 1.0), stack)
            for n, place in enumerate((scratch, stack)):
                (words.out + n).set_integer(place.address() % 64)

    run(write, (address(out),), Lanes(8), scratch=100)
    assert out.tolist() == [0, 0]


def test_denormal_numbers_are_zeros_within_and_numbers_again_behind() -> None:
    x, out = np.full(4, 1e-40, np.float32), np.ones(4, np.float32)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        with entry(module, "f", {"x": "*float32", "out": "*float32"}) as (_, words, _):
            lanes.store(lanes.load(words.x) * 3.0, words.out)

    run(write, (address(x), address(out)), Lanes(4))
    assert out.tolist() == [0] * 4
    assert (x * np.float32(3)).all()


@pytest.mark.parametrize("lanes", WIDTHS, ids=str)
@pytest.mark.parametrize(("rows", "vectors"), [(1, 1), (6, 2), (3, 2)])
def test_a_tile_adds_products_to_sums(lanes: Lanes, rows: int, vectors: int) -> None:
    random = np.random.default_rng(0)
    depth, columns = 7, vectors * lanes.count - 1
    a = random.normal(size=(rows, depth)).astype(lanes.dtype)
    b = random.normal(size=(depth, columns)).astype(lanes.dtype)
    out = np.ones((rows, columns), lanes.dtype)

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        kind = f"*{lanes.dtype}"
        with entry(module, "f", {"a": kind, "b": kind, "out": kind, "k": "index", "n": "index"}) as (code, words, _):
            masks = [lanes.first(words.n - v * lanes.count) for v in range(vectors)]
            places = [words.out + words.n * m + v * lanes.count for m in range(rows) for v in range(vectors)]
            sums = [lanes.load(place, masks[n % vectors]) for n, place in enumerate(places)]
            pointers = [words.a + words.k * m for m in range(rows)]
            sums, _end = multiplied(code, sums, pointers, 0, words.k, words.b, words.n, masks)
            for n, (value, place) in enumerate(zip(sums, places, strict=True)):
                lanes.store(value, place, masks[n % vectors])

    run(write, (address(a), address(b), address(out), depth, columns), lanes)
    np.testing.assert_allclose(out, 1 + a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


def test_a_unit_is_compiled_once_and_then_read_from_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    written = []

    def write(module: Any, dtype: str, lanes: Lanes) -> None:
        written.append(dtype)
        for n, name in enumerate(("one", "two")):
            with entry(module, name, {"out": "*int64"}) as (code, words, _):
                words.out.set_integer(code.number(n + 1))

    def results() -> list[int]:
        found = []
        for place in unit("test of the disk", write, "float32").values():
            out = np.zeros(1, np.int64)
            call(place, (address(out),))
            found.append(out.item())
        return found

    monkeypatch.setattr("agog_cpu_llvm.units._units", {})
    assert results() == results() == [1, 2]
    assert written == ["float32"]
    monkeypatch.setattr("agog_cpu_llvm.units._units", {})  # as in another process
    assert results() == [1, 2]
    assert written == ["float32"]
    for path in disk.folder().iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    monkeypatch.setattr("agog_cpu_llvm.units._units", {})
    assert results() == [1, 2]
    assert written == ["float32"] * 2

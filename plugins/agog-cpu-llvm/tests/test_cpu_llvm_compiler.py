"""The compiler: layouts, threads, sharing of code, and what it does not take."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest

from agog_core.compiler import ArraySpec, Primitive, Subgraph
from agog_core.plugin import threads as core_threads
from agog_cpu_llvm import disk, machine, presence, team
from agog_cpu_llvm.fusion import compiler, module, shares

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))


@pytest.fixture(autouse=True)
def kept_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))


def spec(array: Any) -> ArraySpec:
    return ArraySpec(array.dtype.name, array.shape, array.strides)


def gelu(x: np.ndarray, bias: np.ndarray, first: int = 0) -> tuple[Subgraph, np.ndarray]:
    """``x * tanh(x + bias) * 0.5`` with values numbered from ``first`` on, and its result."""
    made = x + bias
    values = [spec(x)] * first + [spec(array) for array in (x, bias, made, made, made, np.float32(0.5), made)]
    n = first
    primitives = (
        Primitive("ufunc", "add", (n, n + 1), n + 2),
        Primitive("ufunc", "tanh", (n + 2,), n + 3),
        Primitive("ufunc", "multiply", (n, n + 3), n + 4),
        Primitive("ufunc", "multiply", (n + 4, n + 5), n + 6),
    )
    constants = {n + 5: np.array(0.5, "float32")}
    return Subgraph(tuple(values), constants, (n, n + 1), (n + 6,), primitives), x * np.tanh(made) * np.float32(0.5)


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_structurally_equal_subgraphs_share_code(monkeypatch: pytest.MonkeyPatch) -> None:
    x, bias = numbers(11, 37), numbers(37, seed=1)
    subgraph, wanted = gelu(x, bias)
    first = compiler.compile(subgraph)
    assert first is not None
    monkeypatch.setattr(machine, "assemble", lambda text: pytest.fail("it is compiled again"))
    monkeypatch.setattr(machine, "load", lambda *given: pytest.fail("it is loaded again"))
    again = compiler.compile(gelu(x, bias, first=3)[0])
    assert again is not None
    out = np.empty_like(x)
    again(x, bias, out)
    np.testing.assert_array_equal(out, wanted)


def test_constants_of_several_elements_are_each_functions_own() -> None:
    x, out = numbers(5, 7), np.empty((5, 7), "float32")
    for seed in (1, 2):
        table = numbers(7, seed=seed)
        function = compiler.compile(
            Subgraph((spec(x), spec(table), spec(x)), {1: table}, (0,), (2,), (Primitive("ufunc", "add", (0, 1), 2),))
        )
        assert function is not None
        function(x, out)
        np.testing.assert_array_equal(out, x + table)


def test_what_is_computed_quickly_is_not_kept_for_later() -> None:
    x, made = numbers(9, 300), spec(numbers(9, 300))
    half = np.array(0.5, "float32")
    primitives = (
        Primitive("ufunc", "multiply", (0, 1), 2),
        Primitive("ufunc", "square", (2,), 3),
        Primitive("ufunc", "negative", (0,), 4),
        Primitive("ufunc", "tanh", (4,), 5),
        Primitive("ufunc", "add", (5, 3), 6),
    )
    subgraph = Subgraph((made, spec(half), *[made] * 5), {1: half}, (0,), (6,), primitives)
    text = module.write(subgraph, [], "name").text
    assert text.count("x float], align 64") == 2  # for the operands of tanh and for its results
    function = compiler.compile(subgraph)
    assert function is not None
    out = np.empty_like(x)
    function(x, out)
    np.testing.assert_array_equal(out, np.tanh(-x) + np.square(x * half))


def test_exponentials_where_they_become_zero() -> None:
    x = np.concatenate([np.linspace(-106, -86, 4001), [-np.inf, np.nan, np.inf, -1e9, -0.0]]).astype("float32")
    x = np.concatenate([x, np.nextafter(np.float32(-104), np.float32([-200, 0]))])
    subgraph = Subgraph(
        (spec(x), spec(x), spec(x)),
        {},
        (0,),
        (2,),
        (Primitive("ufunc", "negative", (0,), 1), Primitive("ufunc", "exp", (1,), 2)),
    )
    function = compiler.compile(subgraph)
    assert function is not None
    out = np.empty_like(x)
    function(-x, out)
    np.testing.assert_array_equal(out.view("int32"), np.exp(x).view("int32"))


def test_products_are_added_with_one_rounding_only_where_bits_may_differ() -> None:
    x, y, z = (numbers(2000, seed=seed) for seed in range(3))
    primitives = (Primitive("ufunc", "multiply", (0, 1), 3), Primitive("ufunc", "add", (3, 2), 4))
    exact = Subgraph(tuple([spec(x)] * 5), {}, (0, 1, 2), (4,), primitives)
    out = np.empty_like(x)
    for subgraph in (replace(exact, exact=False), exact):
        assert ("fadd contract" in module.write(subgraph, [], "name").text) is not subgraph.exact
        function = compiler.compile(subgraph)
        assert function is not None
        function(x, y, z, out)
        np.testing.assert_allclose(out, x * y + z, 1e-5, 1e-6)
    np.testing.assert_array_equal(out, x * y + z)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["constant", "number", "array"])
def test_powers(kind: str, dtype: str) -> None:
    x = np.concatenate([np.linspace(-3, 3, 600), [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42]]).astype(dtype)
    x = np.stack([x, x[::-1], np.abs(x)])
    primitives = (
        Primitive("ufunc", "negative", (0,), 2),
        Primitive("ufunc", "power", (2, 1), 3),
        Primitive("ufunc", "multiply", (3, 0), 4),
    )
    for exponent in (3.0, 0.7) if kind == "constant" else (2.0, 3.0, 0.5, -1.0, -0.0, 0.7, np.inf, np.nan):
        y = np.array(exponent, dtype).reshape((1, 1) if kind == "array" else ())
        constants, inputs = ({1: y}, (0,)) if kind == "constant" else ({}, (0, 1))
        subgraph = Subgraph((spec(x), spec(y), spec(x), spec(x), spec(x)), constants, inputs, (4,), primitives)
        assert all(compiler.takes(primitive, subgraph.values) for primitive in subgraph.primitives)
        function = compiler.compile(subgraph)
        assert function is not None
        out = np.empty_like(x)
        function(x, *([] if kind == "constant" else [y if y.shape else y[()]]), out)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(out, np.power(-x, y) * x)


def test_powers_of_numbers_per_row() -> None:
    x, y = np.abs(numbers(5, 40)), np.float32(1.7)
    total = np.empty((5, 1), "float32")
    axis = {"axis": (1,), "dtype": None, "keepdims": True}
    primitives = (Primitive("reduce", "add", (0,), 2, axis), Primitive("ufunc", "power", (2, 1), 3))
    subgraph = Subgraph((spec(x), spec(y), spec(total), spec(total)), {1: np.asarray(y)}, (0,), (3,), primitives)
    function = compiler.compile(subgraph)
    assert function is not None
    function(x, total)
    np.testing.assert_array_equal(total, np.power(x.sum(1, keepdims=True), y))


def test_unaligned_arrays() -> None:
    memory = np.zeros(4 * 1001 + 1, np.uint8)
    x = memory[1:].view("float32")[:1000]
    assert not x.flags.aligned
    x[:] = numbers(1000)
    subgraph, wanted = gelu(x, np.float32(0.25).reshape(1))
    function = compiler.compile(subgraph)
    assert function is not None
    out = np.empty(1000, "float32")
    function(x, np.full(1, 0.25, "float32"), out)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("shape", [(1500, 300), (1 << 19,), (3, 1 << 18)])
def test_any_number_of_threads_gives_the_same_bits(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    x, bias = numbers(*shape), numbers(shape[-1], seed=1)
    subgraph, wanted = gelu(x, bias)
    function = compiler.compile(subgraph)
    assert function is not None
    counts: list[int] = []
    monkeypatch.setattr(shares, "run", lambda *given, most: counts.append(most) or team.run(*given, most=most))
    request.addfinalizer(lambda: core_threads.set_count(0))
    for count in (1, 2, 5):
        core_threads.set_count(count)
        for _ in range(5):
            out = np.zeros_like(x)
            function(x, bias, out)
            np.testing.assert_array_equal(out, wanted)
    assert len(counts) == 10
    assert min(counts) > 1


def test_many_threads_call_one_function() -> None:
    x, bias = numbers(257, 129), numbers(129, seed=1)
    subgraph, wanted = gelu(x, bias)
    function = compiler.compile(subgraph)
    assert function is not None
    wrong: list[int] = []

    def work(number: int) -> None:
        out = np.empty_like(x)
        for _ in range(20):
            function(x, bias, out)
            if not np.array_equal(out, wanted):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


class TestMemory:
    def test_code_is_freed_with_the_last_function_that_has_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        engines: list[Any] = []
        monkeypatch.setattr(machine, "_left", engines)
        units: WeakValueDictionary[str, machine.Code] = WeakValueDictionary()
        monkeypatch.setattr(compiler, "_units", units)
        functions = [compiler.compile(gelu(numbers(3, 5), numbers(5), first)[0]) for first in (0, 2)]
        functions.pop()
        assert len(units) == 1
        assert engines == []
        functions.pop()
        assert len(units) == 0
        (engine,) = engines
        assert not engine.closed
        other = compiler.compile(gelu(numbers(3, 6), numbers(6))[0])
        assert other is not None
        assert engine.closed
        assert engines == []

    def test_code_in_a_cycle_is_collected(self) -> None:
        """In a process of its own whose freed memory is overwritten, since Python reads definitions at the end."""
        program = (
            "import gc, sys; sys.path.insert(0, sys.argv[1]); gc.disable()\n"
            "from test_cpu_llvm_compiler import compiler, gelu, numbers\n"
            "for _ in range(20):\n"
            "    function = compiler.compile(gelu(numbers(3, 5), numbers(5))[0])\n"
            "    function.__module__[0].cycle = [function]\n"
            "    del function\n"
            "    gc.collect()\n"
            "print(len(compiler._units))"
        )
        overwriting = {"MALLOC_PERTURB_": "255", "PYTHONMALLOC": "malloc"}
        done = subprocess.run(
            [sys.executable, "-c", program, str(Path(__file__).parent)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **overwriting},
        )
        assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr

    def test_what_optimizes_is_freed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        freed = []
        dispose = machine.NewPassManager._dispose
        monkeypatch.setattr(machine.NewPassManager, "_dispose", lambda passes: (freed.append(passes), dispose(passes)))
        machine.assemble("define void @nothing() { ret void }")
        assert [passes.closed for passes in freed] == [True]


FLOATS = ArraySpec("float32", (4, 8), (32, 4))
COMPLEX = ArraySpec("complex64", (4, 8), (64, 8))
WHOLE = ArraySpec("int32", (4, 8), (32, 4))
NONE = ArraySpec("float32", (0, 8), (32, 4))
ONE, WIDE = ArraySpec("float32", (), ()), ArraySpec("float64", (), ())
ROWS = ArraySpec("float32", (4, 1), (4, 4))
COLUMNS = ArraySpec("float32", (1, 8), (32, 4))
LAST = {"axis": (1,), "dtype": None, "keepdims": True}


@pytest.mark.parametrize(
    ("primitive", "values", "is_taken"),
    [
        (Primitive("ufunc", "add", (0, 0), 1), (FLOATS, FLOATS), True),
        (Primitive("ufunc", "add", (0, 0), 1), (COMPLEX, COMPLEX), False),
        (Primitive("ufunc", "add", (0, 0), 1), (NONE, NONE), False),
        (Primitive("ufunc", "power", (0, 0), 1), (FLOATS, FLOATS), False),
        (Primitive("ufunc", "power", (0, 1), 2), (FLOATS, ONE, FLOATS), True),
        (Primitive("ufunc", "power", (0, 1), 2), (FLOATS, WIDE, FLOATS), False),
        (Primitive("ufunc", "no_such_function", (0, 0), 1), (FLOATS, FLOATS), False),
        (Primitive("ufunc", "bitwise_and", (0, 0), 1), (FLOATS, FLOATS), False),
        (Primitive("cast", "", (0,), 1), (WHOLE, FLOATS), True),
        (Primitive("cast", "", (0,), 1), (FLOATS, WHOLE), False),
        (Primitive("reduce", "add", (0,), 1, LAST), (FLOATS, ROWS), True),
        (Primitive("reduce", "multiply", (0,), 1, LAST), (FLOATS, ROWS), False),
        (Primitive("reduce", "add", (0,), 1, {**LAST, "axis": (0,)}), (FLOATS, COLUMNS), True),
        (Primitive("reduce", "add", (0,), 1, LAST), (ArraySpec("float32", (4, 8), (4, 16)), ROWS), False),
        (Primitive("matmul", "", (0, 0), 1), (FLOATS, FLOATS), False),
    ],
)
def test_what_is_taken(primitive: Primitive, values: tuple[ArraySpec, ...], is_taken: bool) -> None:
    assert compiler.takes(primitive, values) is is_taken


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("step", [-1, -2])
@pytest.mark.parametrize("length", [3, 8, 30, 31, 600])
def test_arrays_that_lie_backwards(dtype: str, step: int, length: int) -> None:
    """LLVM has aborted at some loops that read from the last element to the first."""
    x = (8 * numbers(40, 2 * length)).astype(dtype)[:, ::-step][:, :length][:, ::-1]
    y, row = (8 * numbers(40, length, seed=1)).astype(dtype), (8 * numbers(40, 1, seed=2)).astype(dtype)
    wanted = row * (y * x)
    values = tuple(map(spec, (x, y, row, wanted, wanted)))
    primitives = (Primitive("ufunc", "multiply", (1, 0), 3), Primitive("ufunc", "multiply", (2, 3), 4))
    function = compiler.compile(Subgraph(values, {}, (0, 1, 2), (4,), primitives))
    assert function is not None
    out = np.empty_like(wanted)
    function(x, y, row, out)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["sinh", "exp", "sin", "log1p", "tanh"])
def test_functions_of_copies_of_what_lies_backwards(name: str, dtype: str) -> None:
    """NumPy computes what lies backwards by other functions, and copies of it as they lie."""
    x = numbers(3, 700).astype(dtype)[:, ::-1]
    copy = np.ascontiguousarray(x)
    with np.errstate(invalid="ignore"):
        wanted = getattr(np, name)(copy)
    primitives = (Primitive("copy", "", (0,), 1), Primitive("ufunc", name, (1,), 2))
    function = compiler.compile(Subgraph(tuple(map(spec, (x, copy, wanted))), {}, (0,), (2,), primitives))
    assert function is not None
    out = np.empty_like(wanted)
    with np.errstate(invalid="ignore"):
        function(x, out)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("size", [(3, 19), (400, 5000)])
def test_no_cycles_are_left_behind(size: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_units", {})
    machine._target.cache_clear()
    x, bias = numbers(*size), numbers(size[1], seed=1)
    made = np.empty_like(x)

    def compile_and_run() -> None:
        monkeypatch.setattr(compiler, "_units", {})
        subgraph, wanted = gelu(x, bias)
        for _ in range(2):  # then from disk
            function = compiler.compile(subgraph)
            assert function is not None
            function(x, bias, made)
            compiler._units.clear()
        np.testing.assert_array_equal(made, wanted)

    module.write(gelu(x[:2], bias)[0], [], "other")  # which imports what it needs
    gc.collect()
    gc.disable()
    try:
        compile_and_run()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_no_cycles_are_left_behind_by_the_first_use() -> None:
    """In a process of its own, in which nothing was looked up before."""
    program = (
        "import gc, numpy as np, agog_cpu_llvm.machine as machine, agog_cpu_llvm.numpy_loops as loops\n"
        "gc.collect(); gc.disable()\n"
        "machine._target(); loops.fault()\n"
        "print(gc.collect())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


class TestDisk:
    def test_another_process_finds_what_was_compiled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        x, bias = numbers(13, 41), numbers(41, seed=1)
        subgraph, wanted = gelu(x, bias)
        assert compiler.compile(subgraph) is not None
        monkeypatch.setattr(compiler, "_units", {})
        monkeypatch.setattr(machine, "assemble", lambda text: pytest.fail("it is compiled again"))
        function = compiler.compile(subgraph)
        assert function is not None
        out = np.empty_like(x)
        function(x, bias, out)
        np.testing.assert_array_equal(out, wanted)

    def test_what_is_found_needs_nothing_that_compiles(self) -> None:
        """A first call that finds its code waits for LLVM's loader alone."""
        program = (
            "import sys, agog_cpu_llvm.fusion.compiler, agog_cpu_llvm.machine\n"
            "print([name for name in ('rows', 'terms', 'shares', 'module') if f'agog_cpu_llvm.{name}' in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    @pytest.mark.parametrize("seed", range(8))
    def test_a_damaged_file_is_replaced(self, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        random = np.random.default_rng(seed)
        x, bias = numbers(3, 19), numbers(19, seed=1)
        subgraph, wanted = gelu(x, bias)
        monkeypatch.setattr(compiler, "_units", {})
        assert compiler.compile(subgraph) is not None
        (file,) = (tmp_path / "llvm").iterdir()
        whole = file.read_bytes()
        if seed % 2:
            damaged = whole[: random.integers(len(whole))]
        else:
            at = random.integers(len(whole))
            damaged = whole[:at] + bytes([whole[at] ^ int(random.integers(1, 256))]) + whole[at + 1 :]
        file.write_bytes(damaged)
        monkeypatch.setattr(compiler, "_units", {})
        function = compiler.compile(subgraph)
        assert function is not None
        out = np.empty_like(x)
        function(x, bias, out)
        np.testing.assert_array_equal(out, wanted)
        assert disk.read(file.name) is not None

    def test_the_file_of_another_key_is_replaced(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = [(numbers(size, 19), numbers(19, seed=1)) for size in (3, 5)]
        monkeypatch.setattr(compiler, "_units", {})
        for call in calls:
            assert compiler.compile(gelu(*call)[0]) is not None
        one, other = sorted((tmp_path / "llvm").iterdir())
        contents = one.read_bytes(), other.read_bytes()
        one.write_bytes(contents[1])
        other.write_bytes(contents[0])
        assert disk.read(one.name) is None
        for call in calls:
            monkeypatch.setattr(compiler, "_units", {})
            subgraph, wanted = gelu(*call)
            function = compiler.compile(subgraph)
            assert function is not None
            out = np.empty_like(call[0])
            function(*call, out)
            np.testing.assert_array_equal(out, wanted)
        assert (one.read_bytes(), other.read_bytes()) == contents

    def test_what_others_may_write_is_not_run(self, tmp_path: Path) -> None:
        disk.write("key", b"code")
        assert disk.read("key") == b"code"
        (tmp_path / "llvm" / "key").chmod(0o666)
        assert disk.read("key") is None
        (tmp_path / "llvm").chmod(0o777)
        disk.write("other", b"code")
        assert not (tmp_path / "llvm" / "other").exists()

    def test_it_does_not_grow_without_bound(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(disk, "LIMIT", 5000)
        monkeypatch.setattr(disk, "_KEPT", 2500)
        for number in range(20):
            disk.write(f"key{number}", bytes(1000))
            assert sum(file.stat().st_size for file in (tmp_path / "llvm").iterdir()) <= 5000
        assert disk.read("key19") == bytes(1000)

    def test_few_writes_look_through_all_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        looks = []
        monkeypatch.setattr(disk, "_tidy", looks.append)
        for number in range(600):
            disk.write(f"key{number}", b"code")
        assert 1 <= len(looks) <= 10

    def test_a_folder_that_cannot_be_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").write_bytes(b"")
        monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path / "file"))
        disk.write("key", b"code")
        assert disk.read("key") is None


class TestReductions:
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize(
        "shape",
        [(n,) for n in (2, 7, 8, 9, 127, 128, 129, 513, 4096, 4097, 5000, 8193, 100_003, 1_300_001)]
        + [(3, 9001), (2, 3, 4099)],
    )
    def test_sums_of_what_is_computed(self, shape: tuple[int, ...], dtype: str) -> None:
        x, y = (numbers(*shape, seed=seed).astype(dtype) for seed in (1, 2))
        made = np.tanh(x) * y
        wanted = np.add.reduce(made, axis=-1), np.add.reduce(x, axis=-1, initial=2.5)
        total, other = (np.empty_like(np.asarray(each)) for each in wanted)
        axis = {"axis": (len(shape) - 1,), "dtype": None, "keepdims": False}
        subgraph = Subgraph(
            (spec(x), spec(y), spec(made), spec(made), spec(total), spec(total)),
            {},
            (0, 1),
            (3, 4, 5),
            (
                Primitive("ufunc", "tanh", (0,), 2),
                Primitive("ufunc", "multiply", (2, 1), 3),
                Primitive("reduce", "add", (3,), 4, axis),
                Primitive("reduce", "add", (0,), 5, {**axis, "initial": 2.5}),
            ),
            ((3, 1),),
        )
        assert all(compiler.takes(primitive, subgraph.values) for primitive in subgraph.primitives)
        function = compiler.compile(subgraph)
        assert function is not None
        function(x, y, y, total, other)
        np.testing.assert_array_equal(y, made)
        np.testing.assert_array_equal(total, wanted[0])
        np.testing.assert_array_equal(other, wanted[1])

    @pytest.mark.parametrize("length", [11, 6000])
    def test_an_input_is_reduced_before_it_is_overwritten(self, length: int) -> None:
        x = numbers(4, length)
        wanted, total = np.add.reduce(x, axis=-1), np.empty(4, "float32")
        axis = {"axis": (1,), "dtype": None, "keepdims": False}
        primitives = (Primitive("ufunc", "negative", (0,), 1), Primitive("reduce", "add", (0,), 2, axis))
        function = compiler.compile(Subgraph((spec(x), spec(x), spec(total)), {}, (0,), (1, 2), primitives, ((1, 0),)))
        assert function is not None
        function(x, x, total)
        np.testing.assert_array_equal(total, wanted)

    def test_many_rows_need_no_more_memory_than_one(self) -> None:
        x = numbers(200_000, 5)
        total = np.empty(200_000, "float32")
        subgraph = Subgraph(
            (spec(x), spec(x), spec(total)),
            {},
            (0,),
            (2,),
            (
                Primitive("ufunc", "square", (0,), 1),
                Primitive("reduce", "maximum", (1,), 2, {"axis": (1,), "dtype": None, "keepdims": False}),
            ),
        )
        function = compiler.compile(subgraph)
        assert function is not None
        function(x, total)
        np.testing.assert_array_equal(total, np.square(x).max(axis=1))

"""What is seen of a traced function while it runs as it is compiled: its profile, what explains it, and its errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.compiler import Compiler
from agog_core.observers.callbacks import add_execution_callback, clear_execution_callbacks
from agog_core.observers.profiling import OpProfile
from agog_core.ops.control.py_func import py_func
from agog_core.ops.sorting.sorting import top_k
from agog_core.plugin import InvalidArgumentError
from agog_testing import says
from agog_testing.compilers import compilers_in_use, interpreter

X = np.random.default_rng(0).normal(size=(4, 4)).astype("f4")


@pytest.fixture
def compiler() -> Iterator[Compiler]:
    found = Compiler(name="interpreter", device="cpu", compile=interpreter.compile, takes=interpreter.takes)
    with compilers_in_use(found):
        yield found


def wave(x: ag.Tensor) -> ag.Tensor:
    y = ag.exp(x * 2.0)
    z = y + ag.tanh(y)
    return ag.matmul(z, z)


def line(function: Callable[..., Any], offset: int) -> str:
    return f"{__file__}:{function.__code__.co_firstlineno + offset}"


def rows(seen: Any) -> dict[str, OpProfile]:
    return {row.op: row for row in seen.ops}


def test_a_profile_names_groups_and_lines(compiler: Compiler) -> None:
    f, x = ag.function(wave), ag.constant(X)
    expected = [f(x).numpy(), f(x).numpy()]
    with ag.profile() as seen:
        for _ in range(3):
            expected.append(f(x).numpy())
    for each in expected:
        np.testing.assert_array_equal(each, wave(x).numpy())
    group, product = rows(seen)["multiply+exp+tanh+add"], rows(seen)["matmul"]
    assert (group.count, group.plugin, group.kernel) == (3, "interpreter", "4 primitives in one function")
    assert (group.bytes, group.device) == (3 * X.nbytes, "cpu")
    assert group.lines == (line(wave, 1), line(wave, 2))
    assert (product.count, product.plugin, product.kernel) == (3, "cpu-executor", "numpy.dot")
    assert product.lines == (line(wave, 3),)
    assert len(seen.ops) == 2
    assert all(row.seconds > 0 for row in seen.ops)
    assert (seen.steps, seen.copies) == (6, 0)


def test_a_profile_without_compilers() -> None:
    f, x = ag.function(wave), ag.constant(X)
    with compilers_in_use():
        f(x)
        with ag.profile() as seen:
            f(x)
    assert list(rows(seen)).count("matmul") == 1
    assert {row.kernel for row in seen.ops} == {
        *("numpy.multiply", "numpy.exp", "numpy.tanh", "numpy.add", "numpy.dot"),
    }


def test_kernels_and_python_functions_of_a_step_count_once(compiler: Compiler) -> None:
    @ag.function
    def f(x: ag.Tensor) -> Any:
        best = top_k(x, 2)[0]
        (doubled,) = py_func(lambda a: ag.exp(ag.constant(a)).numpy(), [best], [ag.float32])
        return doubled

    x = ag.constant(X)
    f(x)
    with ag.profile() as seen:
        f(x)
        ag.exp(x)
    assert {name: (row.count, row.kernel) for name, row in rows(seen).items() if name != "exp"} == {
        "top_k": (1, "its kernel"),
        "host": (1, "a function of Python"),
    }
    assert (rows(seen)["exp"].count, rows(seen)["exp"].lines) == (1, None)
    assert str(seen).splitlines()[-1].startswith("1 kernel calls, 2 steps of traced functions, 0 copies, ")


def test_the_table_and_the_file_name_lines(compiler: Compiler, tmp_path: Path) -> None:
    f, x = ag.function(wave), ag.constant(X)
    f(x)
    with ag.profile() as seen:
        f(x)
    header, *cells, _ = [text.split() for text in str(seen).splitlines()]
    start = wave.__code__.co_firstlineno
    assert header[-1] == "lines"
    assert {row[0]: row[-1] for row in cells} == {
        "multiply+exp+tanh+add": f"{Path(__file__).name}:{start + 1},{start + 2}",
        "matmul": f"{Path(__file__).name}:{start + 3}",
    }
    seen.save_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["args"]["lines"] for event in events] == [
        [line(wave, 1), line(wave, 2)],
        [line(wave, 3)],
    ]
    assert events[1]["ts"] >= events[0]["ts"] + events[0]["dur"]


def test_who_wants_values_sees_kernels(compiler: Compiler) -> None:
    """A callback sees every op, and the profile beside it what then runs."""
    f, x = ag.function(wave), ag.constant(X)
    f(x)
    names: list[str] = []
    add_execution_callback(lambda op, *rest: names.append(op))
    try:
        with ag.profile() as seen:
            f(x)
    finally:
        clear_execution_callbacks()
    assert names == ["multiply", "exp", "tanh", "add", "matmul"]
    assert (set(rows(seen)), seen.steps) == (set(names), 0)


def test_branches_and_updates_in_a_profile(compiler: Compiler) -> None:
    v = ag.Variable(X)

    @ag.function
    def f(x: ag.Tensor) -> ag.Tensor:
        x = ag.exp(x) if ag.reduce_sum(x) > 0.0 else x - 1.0
        v.assign_add(x * 0.5)
        return x

    eager = ag.Variable(X)
    for sign in (1.0, -1.0, 1.0):
        f(ag.abs(ag.constant(X)) * sign)
    v.assign(X)
    with ag.profile() as seen:
        for sign in (1.0, -1.0, 1.0):
            x = ag.abs(ag.constant(X)) * sign
            f(x)
    for sign in (1.0, -1.0, 1.0):
        x = ag.abs(ag.constant(X)) * sign
        eager.assign_add((ag.exp(x) if sign > 0 else x - 1.0) * 0.5)
    np.testing.assert_array_equal(v.numpy(), eager.numpy())
    counts = [row.count for row in seen.ops if row.op == "guard"]
    assert counts == [3]  # once in each call: where it fails, the step does not end
    assert any("apply_add" in row.op and row.plugin == "interpreter" for row in seen.ops)


def test_explaining_a_graph(compiler: Compiler) -> None:
    @ag.function
    def f(x: ag.Tensor) -> Any:
        best = top_k(x, 2)[0]
        return wave(x), best, ag.cast(ag.matmul(x, x), ag.float16)

    f(ag.constant(X))
    text = f.graph().explain()
    lines = [each.split(maxsplit=2) for each in text.splitlines()[3:]]
    assert text.splitlines()[0] == "compilers of traced functions on device 'cpu':"
    assert "compiler 'interpreter'" in text.splitlines()[1]
    assert [each[0] for each in lines][:2] == ["top_k", "multiply"]
    assert {each[0]: each[2] for each in lines} == {
        "top_k": "its kernel: Opaque: it calls argsort",
        "multiply": "group 1 of compiler 'interpreter'",
        "exp": "group 1 of compiler 'interpreter'",
        "tanh": "group 1 of compiler 'interpreter'",
        "add": "group 1 of compiler 'interpreter'",
        "matmul": "numpy.dot: compilers have no primitive for it",
        "cast": "a cast: no more to fuse it with",
    }


def test_explaining_why_not() -> None:
    @ag.function
    def f(x: ag.Tensor) -> Any:
        return ag.reduce_sum(ag.exp(x)) + 1.0

    f(ag.constant(X))

    def found(*compilers: Compiler) -> dict[str, str]:
        with compilers_in_use(*compilers):
            lines = [each.split(maxsplit=2) for each in f.graph().explain().splitlines()]
        return {each[0]: each[2] for each in lines if each[0] in ("exp", "reduce_sum", "add")}

    refusing = Compiler(name="no", device="cpu", compile=lambda _: None, takes=lambda primitive, values: False)
    alone = "a single number, for which Python is faster"
    assert found() == {
        "exp": "numpy.exp: no compiler is there",
        "reduce_sum": "numpy.add.reduce: no compiler is there",
        "add": f"numpy.add: {alone}",
    }
    assert found(refusing) == {
        "exp": "numpy.exp: not taken by 'no': float32 (4, 4)",
        "reduce_sum": "numpy.add.reduce: not taken by 'no': float32 ()",
        "add": f"numpy.add: {alone}",
    }


def test_errors_in_a_group_name_its_ops_and_lines() -> None:
    def compile(subgraph: Any) -> Any:
        def fail(*arrays: Any) -> None:
            raise InvalidArgumentError("no loop")

        return fail

    failing = Compiler(name="failing", device="cpu", compile=compile, takes=interpreter.takes)
    f, x = ag.function(wave), ag.constant(X)
    with compilers_in_use(failing):
        f(x)
        with says(InvalidArgumentError, "no loop") as error:
            f(x)
        assert error.value.__notes__ == [
            "in a group of multiply, exp, tanh, add, compiled by 'failing'",
            f"at {line(wave, 1)}, in a traced function",
            f"at {line(wave, 2)}, in a traced function",
        ]
        with ag.profile() as seen, pytest.raises(InvalidArgumentError):
            f(x)
        ag.exp(x)
    assert seen.ops == []

"""The kit finds a stranger's compiler right, or says where it is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.plugin import Compiler, PluginWarning, Subgraph, hookimpl
from agog_core.tracing.functions.function import function
from agog_testing import says
from agog_testing.compilers import check_calls, compilers_in_use, interpreter
from agog_testing.conformance import collect, main
from agog_testing.opinfo import table
from agog_testing.random_programs import check_program
from agog_testing.subject import Violation


def compiler(build: Callable[[Subgraph], Any] = interpreter.compile, **more: Any) -> Compiler:
    return Compiler(name="stranger", device="cpu", compile=build, takes=interpreter.takes, **more)


def only_where_asked(subgraph: Subgraph) -> Any:
    return (interpreter.compile if subgraph.exact else off_by_a_bit)(subgraph)


def off_by_a_bit(subgraph: Subgraph) -> Any:
    run = interpreter.compile(subgraph)

    def wrong(*arrays: Any) -> None:
        run(*arrays)
        out = arrays[-1]
        if out.dtype.kind == "f":
            out[...] = np.where(np.isfinite(out), np.nextafter(out, np.inf), out)

    return wrong


@pytest.fixture
def register() -> Iterator[Callable[[Compiler], None]]:
    def bring(brought: Compiler) -> None:
        ag.register_plugin(SimpleNamespace(agog_compilers=hookimpl(lambda: [brought])), "stranger")

    yield bring
    ag.unregister_plugin("stranger")


@pytest.fixture(autouse=True)
def _on_the_cpu() -> Iterator[None]:
    with ag.device("/cpu:0"):  # which compilers here are for, whatever device the tests are run on
        yield


def test_each_op_has_a_test_and_programs_have(register: Callable[[Compiler], None]) -> None:
    register(compiler())
    ids = [case.id for case in collect("stranger")]
    assert {"add/float32/compiled_by_stranger", "softmax/float64/compiled_by_stranger"} < set(ids)
    assert [name for name in ids if name.startswith("random_programs")] == [
        f"random_programs/float32/part_{part}_by_stranger" for part in range(6)
    ]


def test_a_right_one_passes(register: Callable[[Compiler], None], capsys: pytest.CaptureFixture[str]) -> None:
    register(compiler())
    assert main(["stranger", "--op", "softplus", "--op", "apply_adam", "--dtype", "float32"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 0 failed"


def test_a_wrong_bit_is_found(register: Callable[[Compiler], None]) -> None:
    register(compiler(off_by_a_bit))
    cases = {case.id: case for case in collect("stranger", ["softplus", "random_programs"], ["float32"])}
    outcome = cases["softplus/float32/compiled_by_stranger"].run()
    assert outcome.kind == "failed"
    rule = "a traced function gives the bits, shapes, dtypes and strides that eager calls give"
    assert outcome.text.splitlines()[0] == f"rule: {rule}"
    assert cases["random_programs/float32/part_0_by_stranger"].run().kind == "failed"


def test_one_that_declares_tolerances_is_held_to_them(register: Callable[[Compiler], None]) -> None:
    register(compiler(only_where_asked, tolerances={"float32": (1e-6, 1e-7), "float64": (1e-20, 0.0)}))
    cases = {case.id: case for case in collect("stranger", ["softplus"], ["float32", "float64"])}
    assert {name: case.run().kind for name, case in cases.items()} == {
        "softplus/float32/compiled_by_stranger": "passed",
        "softplus/float32/compiled_loosely_by_stranger": "passed",
        "softplus/float64/compiled_by_stranger": "passed",
        "softplus/float64/compiled_loosely_by_stranger": "failed",
    }
    rule = "a traced function of exact=False gives what eager calls give, within the compiler's tolerances"
    outcome = cases["softplus/float64/compiled_loosely_by_stranger"].run()
    assert outcome.text.splitlines()[0] == f"rule: {rule}"


def test_bits_differ_only_where_they_are_asked_to() -> None:
    x = ag.constant([0.5, 1.5])

    def step(x: ag.Tensor) -> ag.Tensor:
        y = x
        for _ in range(8):  # tapes get the records of shorter functions, and walk them back eagerly
            y = ag.exp(-x) * y
        return y

    def gradient(python: Callable[[ag.Tensor], ag.Tensor]) -> np.ndarray:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = python(x)
        return np.asarray(tape.gradient(y, x).numpy())

    def results(python: Callable[[ag.Tensor], ag.Tensor]) -> list[np.ndarray]:
        """What is traced, and what then is compiled."""
        return [python(x).numpy(), python(x).numpy(), gradient(python), gradient(python)]

    eager, near = results(step), {"float32": (1e-6, 1e-6)}
    for tolerances, exact, differ in (
        (near, False, [False, True, False, True]),
        (near, True, [False] * 4),
        ({}, False, [False] * 4),
    ):
        with compilers_in_use(compiler(only_where_asked, tolerances=tolerances)):
            found = results(function(step, exact=exact))
        assert [bool((one != other).any()) for one, other in zip(found, eager, strict=True)] == differ


def test_what_is_compared_is_exact() -> None:
    x = ag.constant([0.5, 1.5])
    with says(ValueError, "function: check=True compares bits, and exact=False lets them differ; give one of the two."):
        function(ag.exp, check=True, exact=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGOG_CHECK", "1")
        traced = function(lambda x: ag.exp(x) * x, exact=False)
    with compilers_in_use(compiler(only_where_asked, tolerances={"float32": (1e-6, 1e-6)})):
        for _ in range(3):
            np.testing.assert_array_equal(traced(x).numpy(), (ag.exp(x) * x).numpy())


@pytest.mark.parametrize(
    ("tolerances", "kind", "text"),
    [
        (
            {"float31": (1.0, 1.0)},
            ValueError,
            "tolerances: unknown dtypes 'float31'; the dtypes are bfloat16, bool, complex128, complex64, float16, "
            "float32, float64, int16, int32, int64, int8, string, uint16, uint32, uint64, uint8.",
        ),
        (
            {"float32": 1e-6},
            TypeError,
            "tolerances must be a mapping of names to pairs of numbers, rtol and atol; got {'float32': 1e-06}.",
        ),
    ],
)
def test_tolerances_that_are_none(tolerances: Any, kind: type[Exception], text: str) -> None:
    with says(kind, f"Compiler(name='stranger'): {text}"):
        compiler(tolerances=tolerances)


def test_one_that_is_absent_is_not_available(register: Callable[[Compiler], None]) -> None:
    absent = {"compile": abs, "takes": abs, "unavailable": lambda: "there is no compiler"}
    register(Compiler(name="stranger", device="cpu", **absent))
    (case,) = collect("stranger", ["softplus"], ["float32"])
    assert case.run() == ("unavailable", "not available: there is no compiler", None)


def test_one_that_declines_all_changes_nothing() -> None:
    assert check_calls(table["softplus"], "float32", compilers=[compiler(lambda subgraph: None)]) > 0


def test_one_that_raises_is_told_of_and_done_without() -> None:
    def fails(subgraph: Subgraph) -> Any:
        raise ValueError("out of registers")

    traced, x = function(lambda x: ag.exp(x) * x), ag.constant([1.0, 2.0])
    traced(x)
    with compilers_in_use(compiler(fails)), pytest.warns(PluginWarning) as caught:
        result = traced(x)
    np.testing.assert_array_equal(result.numpy(), (ag.exp(x) * x).numpy())
    assert {str(each.message) for each in caught} == {
        "The compiler 'stranger' failed, and a part of a traced function runs without it: ValueError: out of registers "
        "(in 2 primitives: exp, multiply)"
    }


def test_a_program_that_differs_says_which() -> None:
    with compilers_in_use(compiler(off_by_a_bit)), pytest.raises(Violation) as caught:
        check_program(0, seconds=2.0)
    assert "sample: random program 0; run it with `python -m agog_testing.random_programs 0`\n" in str(caught.value)
    assert "\ngot: another value, in line " in str(caught.value)

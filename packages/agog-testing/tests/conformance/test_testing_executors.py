"""The kit finds a stranger's executor right, or says where it is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.compiler import Compiler, Executor, Graph
from agog_core.plugin import hookimpl
from agog_core.tracing.execution.portable import portable
from agog_testing.conformance import collect, main


def right(graph: Graph, compilers: Sequence[Compiler]) -> Any:
    return portable(graph)


def off_by_a_bit(graph: Graph, compilers: Sequence[Compiler]) -> Any:
    run = portable(graph)

    def wrong(inputs: Any, variables: Any) -> Any:
        result = run(inputs, variables)
        if isinstance(result, tuple):
            outputs, finals = result
            return [np.asarray(np.nextafter(x, np.inf)) if x.dtype.kind == "f" else x for x in outputs], finals
        return result

    return wrong


def takes_nothing(graph: Graph, compilers: Sequence[Compiler]) -> None:
    """An executor that leaves all graphs to others."""


@pytest.fixture
def register() -> Iterator[Callable[[Any], None]]:
    def bring(prepare: Any) -> None:
        mine = Executor(name="stranger", device="cpu", prepare=prepare, priority=900)
        ag.register_plugin(SimpleNamespace(agog_executors=hookimpl(lambda: [mine])), "stranger")

    yield bring
    ag.unregister_plugin("stranger")


@pytest.fixture(autouse=True)
def _on_the_cpu() -> Iterator[None]:
    with ag.device("/cpu:0"):  # which executors here are for, whatever device the tests are run on
        yield


def test_each_op_has_a_test_and_programs_have(register: Callable[[Any], None]) -> None:
    register(right)
    ids = [case.id for case in collect("stranger")]
    assert {"add/float32/executed_by_stranger", "softmax/float64/executed_by_stranger"} < set(ids)
    assert [name for name in ids if name.startswith("random_programs")] == [
        f"random_programs/float32/part_{part}_by_stranger" for part in range(6)
    ]


def test_a_right_one_passes(register: Callable[[Any], None], capsys: pytest.CaptureFixture[str]) -> None:
    register(right)
    assert main(["stranger", "--op", "softplus", "--op", "apply_adam", "--dtype", "float32"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 0 failed"


def test_a_wrong_bit_is_found(register: Callable[[Any], None]) -> None:
    register(off_by_a_bit)
    cases = {case.id: case for case in collect("stranger", ["softplus", "random_programs"], ["float32"])}
    outcome = cases["softplus/float32/executed_by_stranger"].run()
    assert outcome.kind == "failed"
    assert "a traced function gives the bits, shapes, dtypes and strides that eager calls give" in outcome.text
    programs = cases["random_programs/float32/part_0_by_stranger"].run()
    assert programs.kind == "failed"
    assert "a traced function does what eager calls do, bit by bit" in programs.text


def test_one_that_takes_nothing_is_not_wrong(register: Callable[[Any], None]) -> None:
    register(takes_nothing)
    (case,) = collect("stranger", ["softplus"], ["float32"])
    assert case.run().kind == "passed"

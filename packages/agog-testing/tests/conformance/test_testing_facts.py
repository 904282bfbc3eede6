"""Facts that a plugin brings about ops of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from agog_core.dispatch.op import Op
from agog_core.plugin import Conformance, Kernel
from agog_testing import says
from agog_testing.conformance import ConformanceError, collect, main, not_covered
from agog_testing.opinfo import OpInfo, Sample, table

Array = np.ndarray[Any, Any]
REFERENCE = "stranger_facts:INFOS"
BEGIN = f"plugin 'stranger': agog_conformance() names the facts '{REFERENCE}'"


def samples(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    yield Sample("a row", (rng.uniform(-3, 3, 4).astype(dtype),))


def info(name: str = "cube") -> OpInfo:
    return OpInfo(name=name, samples=samples, reference=lambda x: x**3, differentiable=False)


@pytest.fixture
def facts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Conformance]:
    """Makes a module with facts, and the `Conformance` that names it."""

    def make(infos: Any) -> Conformance:
        module = ModuleType("stranger_facts")
        module.INFOS = infos  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "stranger_facts", module)
        return Conformance(infos=REFERENCE)

    return make


@pytest.fixture
def cube() -> Iterator[Op]:
    """An op that a plugin brings."""
    from agog_core.calls.call import call
    from agog_core.dispatch.op import registry
    from agog_core.tensors.convert import convert_to_tensor

    def function(x: Any) -> Any:
        return call(op, convert_to_tensor(x))

    op = Op("cube", function, inputs=("x",), shape=lambda x: x, vjp=None)
    yield op
    registry.pop("cube", None)


def kernel(fn: Callable[..., Any]) -> Kernel:
    return Kernel(op="cube", device="cpu", fn=fn, dtypes=("float32",))


def wrong(x: Array) -> Array:
    return x * x


def right(x: Array) -> Array:
    return x * x * x


@pytest.mark.parametrize("form", [list, tuple, lambda infos: {info.name: info for info in infos}])
def test_op_of_a_plugin_is_tested(
    register: Callable[..., None], facts: Callable[[Any], Conformance], cube: Op, form: Callable[..., Any]
) -> None:
    register(kernel(right), ops=(cube,), conformance=facts(form([info()])))
    assert {case.run().kind for case in collect("stranger")} == {"passed"}
    assert not_covered("stranger") == []
    assert main(["stranger"]) == 0
    assert "cube" not in table


def test_fault_in_an_op_of_a_plugin_is_found(
    register: Callable[..., None], facts: Callable[[Any], Conformance], cube: Op
) -> None:
    register(kernel(wrong), ops=(cube,), conformance=facts([info()]))
    assert next(case for case in collect("stranger") if case.check == "value").run().kind == "failed"


def test_op_of_another_plugin_is_tested_by_its_facts(
    register: Callable[..., None], facts: Callable[[Any], Conformance], cube: Op
) -> None:
    register(kernel(right), ops=(cube,), conformance=facts([info()]), name="owner")
    register(kernel(wrong))
    assert not_covered("stranger") == []
    assert next(case for case in collect("stranger") if case.check == "value").run().kind == "failed"


@pytest.mark.parametrize(
    ("infos", "text"),
    [
        (7, ": a list or a mapping of OpInfo is expected; it is of type int."),
        (["cube"], ": entry 0 is of type str; OpInfo is expected."),
        ({"kube": info()}, ": entry 'kube' holds the facts about 'cube'; use the op's name."),
        ([info(), info()], ": they speak of op 'cube' twice."),
        ([info("square")], ": the kit has facts about op 'square' already; leave these out."),
        (
            [info("cubes")],
            ": there is no op 'cubes'. Did you mean 'cube'? Ops of a plugin come by its agog_ops().",
        ),
        ([info("xyzzy")], ": there is no op 'xyzzy'. Ops of a plugin come by its agog_ops()."),
    ],
)
def test_facts_that_cannot_be_used(
    register: Callable[..., None], facts: Callable[[Any], Conformance], cube: Op, infos: Any, text: str
) -> None:
    register(kernel(right), ops=(cube,), conformance=facts(infos))
    with says(ConformanceError, BEGIN + text):
        collect("stranger")


def test_facts_that_cannot_be_imported(
    register: Callable[..., None], cube: Op, capsys: pytest.CaptureFixture[str]
) -> None:
    register(kernel(right), ops=(cube,), conformance=Conformance(infos=REFERENCE))
    assert main(["stranger"]) == 2
    assert capsys.readouterr().err == (
        f"agog-conformance: {BEGIN}, which cannot be imported: ModuleNotFoundError: No module named 'stranger_facts'\n"
    )


@pytest.mark.parametrize("infos", ["facts", 7])
def test_facts_are_named_by_a_reference(infos: Any) -> None:
    with says(
        TypeError, f"Conformance: infos must be a 'module:attribute' string, which only the kit imports; got {infos!r}."
    ):
        Conformance(infos=infos)


SAMPLES = {"square": lambda dtype, rng: [Sample("20,011 elements", (rng.uniform(-1, 1, 20_011).astype(dtype),))]}


def for_large_calls(x: Array) -> Any:
    return np.square(x) if x.size > 20_000 else NotImplemented


def wrong_for_large_calls(x: Array) -> Any:
    return np.square(x) + np.float32(1) if x.size > 20_000 else NotImplemented


def holds_large_inputs(x: Array) -> Any:
    HELD.append(x)
    return for_large_calls(x)


HELD: list[Array] = []


@pytest.mark.parametrize(
    ("fn", "samples", "failing"),
    [
        (for_large_calls, None, {"value"}),
        (for_large_calls, f"{__name__}:SAMPLES", set()),
        (wrong_for_large_calls, f"{__name__}:SAMPLES", {"value", "large"}),
        (holds_large_inputs, f"{__name__}:SAMPLES", {"leaks"}),
    ],
)
def test_kernel_for_large_calls_only(
    register: Callable[..., None], fn: Callable[..., Any], samples: str | None, failing: set[str]
) -> None:
    kernel = Kernel(op="square", device="cpu", fn=fn, dtypes=("float32",), priority=200)
    register(kernel, conformance=Conformance(samples=samples))
    outcomes = {case.check: case.run().kind for case in collect("stranger")}
    HELD.clear()
    assert {check for check, kind in outcomes.items() if kind != "passed"} == failing


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"squares": SAMPLES["square"]}, "the kit has no facts about the ops squares."),
        ({"square": 3}, "a mapping of op names to functions samples(dtype, rng) is expected."),
    ],
)
def test_samples_that_are_none(
    register: Callable[..., None], monkeypatch: pytest.MonkeyPatch, value: Any, text: str
) -> None:
    monkeypatch.setitem(globals(), "SAMPLES", value)
    kernel = Kernel(op="square", device="cpu", fn=np.square, dtypes=("float32",))
    register(kernel, conformance=Conformance(samples=f"{__name__}:SAMPLES"))
    where = f"plugin 'stranger': agog_conformance() names the samples '{__name__}:SAMPLES'"
    with says(ConformanceError, f"{where}: {text}"):
        collect("stranger")

"""Faults of compilers and executors: traced functions are wrong, warn, or change what is not theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from planting import Fault, Plant, kernel, planted

from agog_core.compiler import Claim, Compiler, Executor, Graph, Primitive, Subgraph
from agog_core.tracing.execution.portable import portable
from agog_testing.compilers import interpreter

Array = np.ndarray[Any, Any]
Compile = Callable[[Subgraph], Any]
Prepare = Callable[[Graph, Sequence[Compiler]], Any]

BITS = "rule: a traced function gives the bits, shapes, dtypes and strides that eager calls give\n"
RAISES = "rule: a compiler returns a function for what it is given, or None\n"
RESULTS = "rule: what runs a traced function leaves earlier results alone\n"
INPUTS = "rule: what runs a traced function does not change its inputs\n"
TYPE = "rule: what runs a traced function returns arrays of its device's type\n"


def renamed(old: str, new: str) -> Compile:
    """A compiler that takes one of NumPy's functions for another."""

    def name(primitive: Primitive) -> Primitive:
        return replace(primitive, name=new) if primitive.name == old else primitive

    return lambda subgraph: interpreter.compile(replace(subgraph, primitives=tuple(map(name, subgraph.primitives))))


def reordered(kind: str, order: Sequence[int]) -> Compile:
    """A compiler that takes the inputs of primitives of a kind in another order."""

    def inputs(primitive: Primitive) -> Primitive:
        if primitive.kind != kind or len(primitive.inputs) != len(order):
            return primitive
        return replace(primitive, inputs=tuple(primitive.inputs[n] for n in order))

    return lambda subgraph: interpreter.compile(replace(subgraph, primitives=tuple(map(inputs, subgraph.primitives))))


def on_inputs(change: Callable[[Any], Any]) -> Compile:
    """A compiler that computes with other inputs than those it gets."""

    def compile(subgraph: Subgraph) -> Any:
        def run(*arrays: Any) -> None:
            count = len(subgraph.inputs)
            found = interpreter.evaluate(subgraph, [change(array) for array in arrays[:count]])
            for number, out in zip(subgraph.outputs, arrays[count:], strict=True):
                out[...] = found[number]

        return run

    return compile


def on_outputs(change: Callable[[Array], Any]) -> Compile:
    """A compiler that changes what it has computed."""

    def compile(subgraph: Subgraph) -> Any:
        right = interpreter.compile(subgraph)

        def run(*arrays: Any) -> None:
            right(*arrays)
            for out in arrays[len(subgraph.inputs) :]:
                out[...] = change(out)

        return run

    return compile


def keeps_the_first_results(subgraph: Subgraph) -> Any:
    right, kept = interpreter.compile(subgraph), []

    def run(*arrays: Any) -> None:
        right(*arrays)
        outputs = arrays[len(subgraph.inputs) :]
        if not kept:
            kept.extend(out.copy() for out in outputs)
        for out, first in zip(outputs, kept, strict=True):
            out[...] = first

    return run


def leaves_the_last_element(subgraph: Subgraph) -> Any:
    right = interpreter.compile(subgraph)

    def run(*arrays: Any) -> None:
        last = [out.flat[-1] if out.size > 3 else None for out in arrays[len(subgraph.inputs) :]]
        right(*arrays)
        for out, before in zip(arrays[len(subgraph.inputs) :], last, strict=True):
            if before is not None:
                out.flat[-1] = before

    return run


def in_wide_numbers(subgraph: Subgraph) -> Any:
    """As of a processor that keeps what lies between in longer registers."""
    wide = tuple(replace(spec, dtype="float64") if spec.dtype == "float32" else spec for spec in subgraph.values)

    def run(*arrays: Any) -> None:
        count = len(subgraph.inputs)
        given = [np.asarray(x, "float64") if x.dtype == np.float32 else x for x in arrays[:count]]
        found = interpreter.evaluate(replace(subgraph, values=wide), given)
        for number, out in zip(subgraph.outputs, arrays[count:], strict=True):
            out[...] = found[number]

    return run


def fails(subgraph: Subgraph) -> Any:
    raise ValueError("out of registers")


def claims_sums_without_one(graph: Graph) -> Any:
    for node in graph.nodes:
        if node.op is not None and node.op.name == "add":
            yield Claim([node], lambda inputs, outputs: lambda *arrays: np.copyto(arrays[-1], arrays[0]))


def claims_sums(graph: Graph) -> Any:
    for node in graph.nodes:
        if node.op is not None and node.op.name == "add":
            yield Claim([node], lambda inputs, outputs: add_into)


def add_into(*arrays: Any) -> None:
    np.add(arrays[0], arrays[-2], out=arrays[-1])


def compiler(compile: Compile, **facts: Any) -> Compiler:
    return Compiler(name="stranger", device="cpu", compile=compile, takes=interpreter.takes, priority=900, **facts)


RIGHT = compiler(interpreter.compile)
TWIN = Plant(compilers=(RIGHT,))


def of_compiler(name: str, op: str, compile: Compile, says: str = BITS, dtype: str = "float32") -> Fault:
    broken = Plant(compilers=(compiler(compile),))
    return Fault(name=name, op=op, dtype=dtype, check="compiled_by_stranger", says=says, broken=broken, twin=TWIN)


def rows_only(x: Array, y: Array) -> Any:
    return np.asarray(x + y) if x.ndim == y.ndim == 1 else NotImplemented


def beside_rows_only(each: Compiler) -> Plant:
    return Plant(compilers=(each,), kernels=kernel("add", rows_only, lower=lambda x, y: x + y).kernels)


def after(change: Callable[[Array], Any]) -> Prepare:
    """An executor that changes its results."""

    def prepare(graph: Graph, compilers: Sequence[Compiler]) -> Any:
        run = portable(graph)

        def wrong(inputs: Any, variables: Any) -> Any:
            outputs, finals = run(inputs, variables)
            return [change(x) for x in outputs], [change(x) for x in finals]

        return wrong

    return prepare


def as_it_was(x: Array) -> Array:
    return x


def in_one_memory(graph: Graph, compilers: Sequence[Compiler]) -> Any:
    run, kept = portable(graph), []

    def wrong(inputs: Any, variables: Any) -> Any:
        outputs, finals = run(inputs, variables)
        if not kept:
            kept.extend(np.array(x) for x in outputs)
        for memory, x in zip(kept, outputs, strict=True):
            memory[...] = x
        return list(kept), finals

    return wrong


def counts_its_inputs_up(graph: Graph, compilers: Sequence[Compiler]) -> Any:
    run = portable(graph)

    def wrong(inputs: Any, variables: Any) -> Any:
        outputs, finals = run(inputs, variables)
        outputs = [x.copy() for x in outputs]
        for x in inputs:
            x += x.dtype.type(1)
        return outputs, finals

    return wrong


def of_numbers_seen(graph: Graph, compilers: Sequence[Compiler]) -> Any:
    """An executor for which numbers known late are those that were traced, and each is 1."""
    for node in graph.nodes:
        node.attributes = {name: 1.0 if given in graph.lates else given for name, given in node.attributes.items()}
    return portable(graph)


def without_updates(graph: Graph, compilers: Sequence[Compiler]) -> Any:
    run = portable(graph)

    def wrong(inputs: Any, variables: Any) -> Any:
        before = [x.copy() for x in variables]
        outputs, finals = run(inputs, variables)
        return outputs, before if finals else finals

    return wrong


def executor(prepare: Prepare) -> Plant:
    return Plant(executors=(Executor(name="stranger", device="cpu", prepare=prepare, priority=900),))


OF_EXECUTORS = executor(after(as_it_was))


def of_executor(name: str, op: str, prepare: Prepare, says: str = BITS) -> Fault:
    broken = executor(prepare)
    return Fault(name=name, op=op, check="executed_by_stranger", says=says, broken=broken, twin=OF_EXECUTORS)


FAULTS = [
    of_compiler("a sum for a difference", "subtract", renamed("subtract", "add")),
    of_compiler("fmax for maximum", "maximum", renamed("maximum", "fmax")),
    of_compiler("floor_divide for divide", "realdiv", renamed("divide", "floor_divide")),
    of_compiler("less_equal for less", "less", renamed("less", "less_equal")),
    of_compiler("the inputs of where in another order", "leaky_relu", reordered("where", (0, 2, 1))),
    of_compiler("the inputs of ufuncs in another order", "subtract", reordered("ufunc", (1, 0))),
    of_compiler("a sum for a maximum", "log_softmax", renamed("maximum", "add")),
    of_compiler("no NaN in inputs", "square", on_inputs(np.nan_to_num)),
    of_compiler("inputs in half precision", "square", on_inputs(lambda x: x.astype(np.float16).astype(x.dtype))),
    of_compiler("denormal numbers as zero", "negative", on_outputs(lambda x: np.where(abs(x) < 1.2e-38, 0, x))),
    of_compiler("no negative zero", "negative", on_outputs(lambda x: x + x.dtype.type(0))),
    of_compiler("the bit after", "softplus", on_outputs(lambda x: np.nextafter(x, x.dtype.type(np.inf)))),
    of_compiler("the first results each time", "square", keeps_the_first_results),
    of_compiler("all but the last element", "square", leaves_the_last_element),
    of_compiler("wide intermediate numbers", "softsign", in_wide_numbers),
    of_compiler("raises for each group", "square", fails, RAISES),
    Fault(
        name="a claim that forgets an operand",
        op="add",
        check="compiled_by_stranger",
        says=BITS,
        broken=Plant(compilers=(compiler(interpreter.compile, claims=claims_sums_without_one),)),
        twin=Plant(compilers=(compiler(interpreter.compile, claims=claims_sums),)),
    ),
    Fault(
        name="wrong beside a kernel that declines",
        op="add",
        check="compiled_by_stranger",
        says=BITS,
        broken=beside_rows_only(compiler(renamed("add", "subtract"))),
        twin=beside_rows_only(RIGHT),
    ),
    of_executor("floats one bit off", "softplus", after(lambda x: np.asarray(np.nextafter(x, x.dtype.type(np.inf))))),
    of_executor("another layout", "transpose", after(np.ascontiguousarray)),
    of_executor("wider results", "square", after(lambda x: x.astype(np.float64))),
    of_executor("numbers for arrays", "square", after(lambda x: x[()]), TYPE),
    of_executor("earlier results written to", "square", in_one_memory, RESULTS),
    of_executor("inputs written to", "square", counts_its_inputs_up, INPUTS),
    of_executor("1 for numbers known late", "apply_gradient_descent", of_numbers_seen),
    of_executor("no updates", "apply_gradient_descent", without_updates),
]

test_fault_is_found, test_twin_passes = planted(FAULTS)

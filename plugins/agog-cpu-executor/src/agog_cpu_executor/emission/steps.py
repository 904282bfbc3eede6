"""Steps: the source lines of each kind of step."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from agog_cpu_executor.emission import calls
from agog_cpu_executor.emission.writer import Writer, listed
from agog_cpu_executor.program.kinds import Home, Kind, Source
from agog_cpu_executor.program.steps import (
    CallStep,
    FullStep,
    FunctionStep,
    GroupStep,
    GuardStep,
    KernelStep,
    LoopStep,
    NumberStep,
    PutStep,
    ReduceStep,
    Step,
    UfuncStep,
    Value,
    ViewStep,
)

# NumPy's scalars compute these with far less around them, and to the same bits.
_OPERATORS: Mapping[Any, str] = {
    np.add: "{} + {}",
    np.subtract: "{} - {}",
    np.multiply: "{} * {}",
    np.true_divide: "{} / {}",
    np.greater: "{} > {}",
    np.greater_equal: "{} >= {}",
    np.less: "{} < {}",
    np.less_equal: "{} <= {}",
    np.equal: "{} == {}",
    np.not_equal: "{} != {}",
    np.negative: "-{}",
    np.absolute: "abs({})",
    np.square: "{0} * {0}",
}
# The arithmetic of the host.
_ARITHMETIC: Mapping[Any, str] = {
    operator.getitem: "{}[{}]",
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    operator.truediv: "{} / {}",
    operator.pow: "{} ** {}",
    operator.neg: "-{}",
}
PLAIN = (np.dtype("float32"), np.dtype("float64"))


class StepWriter(Writer):
    """Writes the lines of steps."""

    users: Mapping[Value, list[Step]]  # which take a value

    def write(self, step: Step) -> None:
        """Write the lines of a step."""
        _WRITERS[step.kind](self, step)

    def _ufunc(self, step: UfuncStep) -> None:
        [value], function = step.outputs, step.function
        if value.array.ndim == 0 and self.plan.places[value].home is Home.SCALAR:
            operands = [self.scalar(each) for each in step.inputs]
            if (same := _times_one(step)) is not None:
                self.scalars[value] = self.scalars[same]
                return
            name = self.scalars[value] = self.name("s")
            if _is_operator(step):
                self.line(f"{name} = {_OPERATORS[function].format(*operands)}")
            else:
                self.line(f"{name} = {self.known(function)}({', '.join(operands)})")
            return
        operands = [self.operand(each) for each in step.inputs]
        out = self.target(value)
        if out is None and step.is_imposed:
            out = self.new(value)
        call = f"{self.known(function)}({', '.join(operands)}"
        if out is None:
            name = self.arrays[value] = self.name("a")
            self.line(f"{name} = {call})")
        else:
            # NumPy 2.4 warns of these two where the output comes without its name.
            has_name = function in (np.maximum, np.minimum)
            self.line(f"{call}, {'out=' if has_name else ''}{out})")

    def _reduce(self, step: ReduceStep) -> None:
        [value], [x] = step.outputs, step.inputs
        operand = self.operand(x)
        out = self.target(value)
        initial = "" if step.initial is None else f", initial={self.known(step.initial)}"
        dtype = None if step.dtype is None else self.known(step.dtype)
        call = f"{self.known(step.function.reduce)}({operand}, {step.axis!r}, {dtype}, {out}, {step.keepdims}{initial})"
        self._result(value, out, call)

    def _result(self, value: Value, out: str | None, call: str) -> None:
        """Write the line of a call that takes ``out``, or returns a new array or a scalar."""
        if out is not None:
            self.line(call)
        elif self.plan.places[value].home is Home.SCALAR:
            self.scalars[value] = name = self.name("s")
            self.line(f"{name} = {call}")
        else:
            self.arrays[value] = name = self.name("a")
            self.line(f"{name} = {call}")

    def _where(self, step: Step) -> None:
        [value] = step.outputs
        call = f"where({', '.join(map(self.operand, step.inputs))})"
        self._result(value, None, f"{call}[()]" if value.array.ndim == 0 else call)

    def _cast(self, step: Step) -> None:
        [value], [x] = step.outputs, step.inputs
        if self.plan.places[value].home is Home.SCALAR:
            operand = self.scalar(x)
            name = self.scalars[value] = self.name("s")
            self.line(f"{name} = {operand}.astype({self.known(value.array.dtype)})")
        else:
            self._copied(step, ", 'unsafe'")

    def _copy(self, step: Step) -> None:
        [value], [x] = step.outputs, step.inputs
        if self.plan.places[value].home is Home.SCALAR:
            self.scalars[value] = self.scalar(x)
        else:
            self._copied(step, "")

    def _copied(self, step: Step, casting: str) -> None:
        operand = self.operand(step.inputs[0])
        out = self.target(step.outputs[0]) or self.new(step.outputs[0])
        self.line(f"copyto({out}, {operand}{casting})")

    def _scalar(self, step: Step) -> None:
        [value], [number] = step.outputs, step.inputs
        is_wanted = value in self.lowered.outputs or any(value is final for _, final in self.lowered.finals)
        if not is_wanted and all(
            isinstance(each, UfuncStep) and _is_weak(value, each) for each in self.users.get(value, ())
        ):
            self.scalars[value] = self.scalars[number]
            return
        name = self.scalars[value] = self.name("s")
        self.line(f"{name} = {self.known(value.array.dtype.type)}({self.scalars[number]})")

    def _view(self, step: ViewStep) -> None:
        [value], [x] = step.outputs, step.inputs
        method, argument = step.name, step.argument
        if value.array.ndim:
            self.arrays[value] = self.seen(self.array(x), ((method, argument),))
        elif x.array.ndim == 0:
            self.scalars[value] = name = self.name("s")
            self.line(f"{name} = {self._see(self.scalar(x), method, argument)}{'[()]' if method != 'view' else ''}")
        else:
            self.arrays[value] = self.seen(self.array(x), ((method, argument),))

    def _dot(self, step: Step) -> None:
        [value], (x, y) = step.outputs, step.inputs
        operands = self.array(x), self.array(y)
        out = self.target(value)
        self._result(value, out, f"{operands[0]}.dot({operands[1]}{'' if out is None else f', {out}'})")

    def _matmul(self, step: Step) -> None:
        [value] = step.outputs
        operands = [self.array(each) for each in step.inputs]
        out = self.target(value)
        self._result(value, out, f"matmul({', '.join(operands if out is None else [*operands, out])})")

    def _full(self, step: FullStep) -> None:
        [value], number = step.outputs, step.number
        if self.plan.places[value].home is Home.SCALAR:
            self.scalars[value] = self.known(np.full((), 0 if number is None else number, value.array.dtype)[()])
            return
        out = self.target(value) or self.new(value)
        if number is not None:
            self.line(f"{out}.fill({self.known(number)})")

    def _put(self, step: PutStep) -> None:
        [value], old, source = step.outputs, step.inputs[0], self.operand(step.inputs[1])
        place = self.plan.places[value]
        before = self.operand(old)
        if place.home is Home.SCALAR:
            self.scalars[value] = source
            return
        if place.home is Home.NEW and place.replaces is old:
            out = self.arrays[value] = before
        else:
            out = self.target(value) or self.new(value)
        if place.replaces is not old:
            self.line(f"copyto({out}, {before})")
        self.line(f"copyto({self.seen(out, step.path)}, {source})")

    def _function(self, step: FunctionStep) -> None:
        given = [
            f"({listed([self.array(each) for each in x])})"
            if isinstance(x, tuple)
            else self.array(x)
            if isinstance(x, Value)
            else self.known(x)
            for x in step.arguments
        ]
        given += [f"{name}={self.known(x)}" for name, x in step.keywords.items()]
        call = f"{self.known(step.function)}({', '.join(given)})"
        self._result(step.outputs[0], None, call)

    def _join(self, step: Step) -> None:
        """Write nothing: the parts were computed in the memory of the whole."""

    # -- the host --------------------------------------------------------------------------------------------------

    def _late(self, step: NumberStep) -> None:
        given = ", ".join(self.array(each) for each in step.inputs)
        name = self.scalars[step.outputs[0]] = self.name("h")
        self.line(f"{name} = {self.known(step.function)}({given})")

    def _host(self, step: CallStep) -> None:
        function = calls.on_host(step.node)
        given, _ = self._arguments(step, [self.array(each) for each in step.arrays])
        names = [self.name("a") for _ in step.outputs]
        self.line(f"[{', '.join(names)}] = {self.known(function)}({given})")
        self.arrays.update(zip(step.outputs, names, strict=True))

    def _loop(self, step: LoopStep) -> None:
        loop = step.node.attributes["loop"]
        function = loop.function(step.node.outputs, step.is_exact)
        names = [self.name("a") for _ in step.outputs]
        given = ", ".join(self.array(each) for each in step.arrays)
        self.line(f"[{', '.join(names)}] = {self.known(function)}({given})")
        self.arrays.update(zip(step.outputs, names, strict=True))

    def _number(self, step: NumberStep) -> None:
        given = [self.scalars[x] if isinstance(x, Value) else self.known(x) for x in step.operands]
        name = self.scalars[step.outputs[0]] = self.name("h")
        self.line(f"{name} = {_ARITHMETIC[step.function].format(*given)}")

    def _guard(self, step: GuardStep) -> None:
        [x], outcome, number = step.inputs, step.outcome, step.number
        if isinstance(outcome, tuple):
            self.line(f"if {self.array(x)}.shape != {outcome!r}: return {number}")
        elif isinstance(outcome, bool):
            seen = self.operand(x)
            self.line(f"if {'not ' if outcome else ''}{seen}: return {number}")
        else:
            self.line(f"if {self.array(x)}.item() != {self.known(outcome)}: return {number}")

    # -- kernels and groups ----------------------------------------------------------------------------------------

    def _arguments(self, step: CallStep, arrays: list[str]) -> tuple[str, str]:
        """The arguments of a kernel, and the same for the kernel next in rank."""
        attributes = {name: self.known(given) for name, given in step.known.items()}
        attributes |= {name: self.scalars[value] for name, value in step.lates.items()}
        pairs = [f"{name}={given}" for name, given in attributes.items()]
        return ", ".join([*arrays, *pairs]), f"({listed(arrays)}), dict({', '.join(pairs)})"

    def _kernel(self, step: KernelStep) -> None:
        kernel, adopt, adopt_all = calls.kernel(step.node)
        arrays = [self.array(each) for each in step.arrays]
        given, again = self._arguments(step, arrays)
        if step.fill is not None:
            out = self.target(step.outputs[0]) or self.new(step.outputs[0])
            result = f"{self.known(adopt)}({self.known(kernel)}({given}), {again})"
            self.line(f"if {self.known(step.fill)}({given}, out={out}) is NotImplemented: copyto({out}, {result})")
        elif step.node.several or len(step.outputs) > 1:
            names = [self.name("a") for _ in step.outputs]
            call = f"{self.known(adopt_all)}({self.known(kernel)}({given}), {again})"
            self.line(f"[{', '.join(names)}] = {call}")
            self.arrays.update(zip(step.outputs, names, strict=True))
        else:
            name = self.arrays[step.outputs[0]] = self.name("a")
            self.line(f"{name} = {self.known(kernel)}({given})")
            self.line(f"if type({name}) is not ndarray: {name} = {self.known(adopt)}({name}, {again})")

    def _update(self, step: CallStep) -> None:
        kernel, _, adopt_all = calls.kernel(step.node)
        arrays = []
        for k, old in enumerate(step.arrays):
            if k >= len(step.outputs):
                arrays.append(self.array(old))
                continue
            name = self.target(step.outputs[k])
            if name is None and self.plan.places[step.outputs[k]].replaces is old:
                name = self.arrays[step.outputs[k]] = self.array(old)
            elif name is None:
                name = self.arrays[step.outputs[k]] = self.name("a")
                self.line(f"{name} = array({self.operand(old)}, order='C')")
            arrays.append(name)
        given, again = self._arguments(step, arrays)
        self.line(f"r = {self.known(kernel)}({given})")
        # It may return new arrays in place of those that it was to update.
        self.line(f"if r is not None: r = {self.known(adopt_all)}(r, {again})")
        self.line(f"if r is not None: [{', '.join(arrays[: len(step.outputs)])}] = r")

    def _group(self, step: GroupStep) -> None:
        given = [self.sees(each) for each in step.inputs]
        outs = [self.target(value) or self.new(value) for value in step.outputs]
        self.line(f"{self.known(step.run)}({', '.join([*given, *outs])})")


_WRITERS: Mapping[Kind, Callable[[StepWriter, Any], None]] = {
    Kind.UFUNC: StepWriter._ufunc,
    Kind.REDUCE: StepWriter._reduce,
    Kind.WHERE: StepWriter._where,
    Kind.CAST: StepWriter._cast,
    Kind.COPY: StepWriter._copy,
    Kind.VIEW: StepWriter._view,
    Kind.DOT: StepWriter._dot,
    Kind.MATMUL: StepWriter._matmul,
    Kind.FULL: StepWriter._full,
    Kind.PUT: StepWriter._put,
    Kind.FUNCTION: StepWriter._function,
    Kind.JOIN: StepWriter._join,
    Kind.LATE: StepWriter._late,
    Kind.NUMBER: StepWriter._number,
    Kind.SCALAR: StepWriter._scalar,
    Kind.HOST: StepWriter._host,
    Kind.LOOP: StepWriter._loop,
    Kind.GUARD: StepWriter._guard,
    Kind.KERNEL: StepWriter._kernel,
    Kind.UPDATE: StepWriter._update,
    Kind.GROUP: StepWriter._group,
}


def _is_operator(step: UfuncStep) -> bool:
    """Whether an operator of NumPy scalars computes a ufunc."""
    return step.function in _OPERATORS and all(each.array.dtype in PLAIN for each in step.inputs)


def _times_one(step: UfuncStep) -> Value | None:
    """The scalar that a step multiplies by 1, as a backward pass does first; None for other steps."""
    if step.function is not np.multiply or not _is_operator(step):
        return None
    for one, other in (step.inputs, step.inputs[::-1]):
        is_number = other.step is not None and other.step.kind is Kind.SCALAR  # which may be one of Python's
        if one.source is Source.CONSTANT and one.array == 1 and one.array.dtype == other.array.dtype and not is_number:
            return other
    return None


def _is_weak(value: Value, step: UfuncStep) -> bool:
    """Whether a Python number gives a ufunc the same result as the scalar made of it."""
    others = [each for each in step.inputs if each is not value]
    is_scalar = not step.outputs[0].array.ndim and _is_operator(step)
    return is_scalar and any(each.step is None or each.step.kind is not Kind.SCALAR for each in others)

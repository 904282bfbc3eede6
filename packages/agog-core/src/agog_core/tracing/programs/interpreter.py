"""Interpreter: runs a program by the ops that it names, which tapes and traced functions see as they see any."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from agog_core.calls.call import call, create, update_part
from agog_core.calls.call import update as update_whole
from agog_core.dispatch.devices.lookup import current_device, device
from agog_core.dispatch.op import Op
from agog_core.dtypes import as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import stack
from agog_core.random import stream
from agog_core.tensors.convert import computed, convert_to_tensor, fixed
from agog_core.tensors.host_functions import HostFunction, makers
from agog_core.tensors.placement import bring
from agog_core.tensors.tensor import Tensor
from agog_core.tracers import chosen, iterated, over_rows
from agog_core.tracing.programs.encoding import Decoder, packed
from agog_core.tracing.programs.validation import op_of
from agog_core.variables.temporary import temporary
from agog_core.variables.variable import Variable


class Interpreter:
    """Runs a program that `agog_core.tracing.programs.validation.check` has found whole.

    Args:
        program: the data.
        arrays: the arrays that it names.
        variables: those that it reads and writes, by their places.
        name: of the function, for errors.
    """

    def __init__(
        self, program: Mapping[str, Any], arrays: Mapping[str, Any], variables: Sequence[Variable], name: str
    ) -> None:
        self.program, self.arrays, self.variables, self.name = program, arrays, variables, name
        self.__name__ = name
        self._constants: dict[tuple[str, str], Tensor] = {}

    def __call__(self, *tensors: Tensor) -> Any:
        """What the function gives for tensors of the kinds that it takes."""
        return _Run(self, tensors).result()

    def constant(self, name: str, dtype: str) -> Tensor:
        """A constant, which is made once."""
        found = self._constants.get((name, dtype))
        if found is None:
            made = convert_to_tensor(np.array(self.arrays[name]), as_dtype(dtype))
            found = self._constants.setdefault((name, dtype), made)
        return found


class _Run:
    """One call of a program."""

    def __init__(self, owner: Interpreter, tensors: Sequence[Tensor]) -> None:
        self.owner, self.tensors = owner, tensors
        self.keys: dict[int, Any] = {}
        self.temporaries: dict[int, Variable] = {}
        self.values: dict[int, Tensor] = {}
        self.decode = Decoder(owner.arrays.__getitem__, self.size, self.keys)

    def result(self) -> Any:
        program = self.owner.program
        block = program["block"]
        self.values.update(zip(block["inputs"], self.tensors, strict=True))
        for places in program["sizes"][: program["inputs_sizes"]]:
            found = {self.tensors[place]._shape[axis] for place, axis in places}
            if len(found) > 1:
                raise InvalidArgumentError(
                    f"{self.owner.name}: it was saved for arguments of which some sizes are equal; got "
                    f"{', '.join(map(str, sorted(found)))}."
                )
        while True:
            following = self.run(block["steps"], self.values)
            if following is None:
                break
            block = following
        outputs = [self.values[number] for number in block["outputs"]]
        return packed(block["result"], outputs, self.decode)

    def size(self, terms: Any) -> int:
        """A number that stands for sizes."""
        return sum(factor * prod([self.symbol(each) for each in symbols]) for factor, symbols in terms)

    def symbol(self, number: int) -> int:
        program = self.owner.program
        place = program["sizes"][number]
        if number < program["inputs_sizes"]:
            where, axis = place[0]
            return int(self.tensors[where]._shape[axis])
        where, axis = place
        return int(self.values[where]._shape[axis])

    def run(self, steps: Sequence[Mapping[str, Any]], values: dict[int, Tensor]) -> Any:
        """Run steps; the block that follows, where they end with a branch."""
        for step in steps:
            if step["do"] == "branch":
                return self.branch(step, values)
            found = _KINDS[step["do"]](self, step, [values[number] for number in step.get("in", ())], values)
            values.update(zip(step.get("out", ()), found, strict=True))
        return None

    def branch(self, step: Mapping[str, Any], values: dict[int, Tensor]) -> Any:
        outcome = bool(values[step["in"][0]])
        ways = step.get("ways")
        if ways is None:
            if outcome is not step["with"]["outcome"]:
                raise self.lacks(step, "a branch of Python goes another way there")
            return None
        following = ways[0 if outcome else 1]
        if following is None:
            raise self.lacks(step, "a branch of Python goes another way there")
        return following

    def lacks(self, step: Mapping[str, Any], what: str) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self.owner.name}: {step['at']}: {what} than when the function was saved; save it with tf.cond, or with "
            "tensors in the place of Python values."
        )

    def attributes(self, step: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.decode(each) for name, each in step["with"].items()}

    def inner(self, block: Mapping[str, Any], given: Sequence[Tensor], values: Mapping[int, Tensor]) -> list[Tensor]:
        """What a block gives."""
        known = {**values, **dict(zip(block["inputs"], given, strict=True))}
        self.run(block["steps"], known)
        return [known[number] for number in block["outputs"]]

    # One for each kind of step

    def op(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        op, given = op_of(step["name"]), self.attributes(step)
        is_alone = (
            op.elementwise and not (given or op.variadic) and len(op.inputs) < 3
        )  # whose gradients sum over what was broadcast
        result: Any = op.function(*inputs) if is_alone else call(op, *inputs, **given)
        return result if isinstance(result, tuple) else (result,)

    def create(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        given = self.attributes(step)
        result: Any = create(op_of(step["name"]), given["dtype"], **given["attributes"])
        return result if isinstance(result, tuple) else (result,)

    def constant(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        value = step["value"]
        if "array" in value:
            return (self.owner.constant(value["array"], step["dtype"]),)
        return (convert_to_tensor(self.array(value), as_dtype(step["dtype"])),)

    def array(self, value: Mapping[str, Any]) -> Any:
        """A constant whose sizes or elements depend on those of the arguments."""
        ((kind, content),) = value.items()
        if kind == "array":
            return self.owner.arrays[content]
        if kind == "filled":
            one, shape = content
            return np.broadcast_to(self.array(one), self.decode(shape))
        if kind == "range":
            first, distance, count, dtype = self.decode(content)
            return (first + distance * np.arange(count)).astype(dtype)
        elements, shape, dtype = content
        numbers = np.array(self.decode(elements))
        return np.asarray(numbers if kind == "elements" else 1 / numbers, dtype).reshape(shape)

    def read(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        return (self.variable(step).value(),)

    def variable(self, step: Mapping[str, Any], place: int = 0) -> Variable:
        number = step["variables"][place]
        return self.temporaries[number] if number < 0 else self.owner.variables[number]

    def assign(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        self.variable(step).assign(inputs[0])
        return ()

    def update(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        op: Op = op_of(step["name"])
        variables = [self.variable(step, place) for place in range(len(step["variables"]))]
        if len(variables) == 1 and any(x._shape != variables[0]._current()._shape for x in inputs):
            update_part(op, variables[0], inputs, **self.attributes(step))
        else:
            update_whole(op, variables, inputs, **self.attributes(step))
        return ()

    def temporary(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        self.temporaries[step["variables"][0]] = temporary(inputs[0])
        return ()

    def key(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        given = self.attributes(step)
        self.keys[step["out"][0]] = stream(given["seed"])(given["values"])
        return (None,)

    def copy(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        with device(self.attributes(step)["device"]):
            return (bring(inputs[0], current_device()),)

    def host(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        given = self.attributes(step)
        name, data = step["name"], given["data"]
        function = HostFunction(name, data, makers[name](**data))
        return computed(function, inputs, given["dtypes"], has_sizes=True, may_fail=True)

    def fixed(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        found, known = fixed(inputs[0]).tolist(), self.attributes(step)["value"]
        if found != known:
            raise self.lacks(step, f"an op is given {found} in place of {known}, and so does something else")
        return ()

    def cond(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        first, second = step["blocks"]
        ways = {True: lambda: self.inner(first, (), values), False: lambda: self.inner(second, (), values)}
        return chosen(inputs[0], ways)

    def loop(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        condition, body = step["blocks"]
        return iterated(
            lambda *given: self.inner(condition, given, values)[0],
            lambda given, number: self.inner(body, given, values),
            inputs,
            self.attributes(step)["limit"],
            lambda found: True,
        )

    def rows(self, step: Mapping[str, Any], inputs: list[Tensor], values: Any) -> Any:
        given, (body,) = self.attributes(step), step["blocks"]
        count, first, last = given["carried"], given["first"], given["last"]
        carry, sources = inputs[:count], inputs[count:]
        places = range(first, last + 1) if last >= first else range(first, last - 1, -1)
        found = over_rows(
            lambda carry, row: self.inner(body, [*carry, *row], values),
            carry,
            [[source[place] for source in sources] for place in places],
            carries=bool(count),
        )
        return [stack(rows) for rows in zip(*found, strict=True)]


_KINDS: dict[str, Callable[..., Any]] = {
    **{name: getattr(_Run, name) for name in ("op", "create", "constant", "read", "assign", "update", "temporary")},
    **{name: getattr(_Run, name) for name in ("key", "copy", "host", "fixed", "cond", "rows")},
    "while": _Run.loop,
}

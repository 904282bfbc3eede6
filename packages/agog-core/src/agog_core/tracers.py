"""Tracers: the part of tracing that ops and variables use; `agog_core.tracing` has the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable
    from agog_core.dispatch.op import Op
    from agog_core.dtypes import DType
    from agog_core.tensors.tensor import Tensor
    from agog_core.variables.variable import Variable


class Tracer:
    """The interface of a traced function's recorder, called in place of eager code."""

    records = True  # whether calls of kernels are recorded
    lifts = False  # whether variables that are made now are none of the function's, as in an init_scope
    refused: Exception | None = None  # because the function has done what a traced one cannot

    def table(self, table: KernelTable) -> KernelTable:
        """The table whose kernels record, in place of a device's own."""
        raise NotImplementedError

    def read(self, variable: Variable, tensor: Tensor) -> Tensor:
        """The current value of a variable during tracing."""
        raise NotImplementedError

    def assign(self, variable: Variable, tensor: Tensor) -> None:
        """Give a variable a new value."""
        raise NotImplementedError

    def update(self, op: Op, variables: Sequence[Variable], inputs: Sequence[Tensor], attributes: Any) -> None:
        """Update variables by an op."""
        raise NotImplementedError

    def known(self, tensor: Tensor) -> Tensor:
        """A tensor with the value of this call, constant in later calls."""
        raise NotImplementedError

    def truth(self, tensor: Tensor) -> bool | None:
        """The value of a bool in this call, which later calls compare with theirs; None for a constant."""
        raise NotImplementedError

    def fixed(self, tensor: Tensor) -> Any:
        """The result of `agog_core.tensors.convert.fixed`."""
        raise NotImplementedError

    def note_failure(self) -> None:
        """Note that an op fails in this call, so that no trace is kept if the function catches the error."""

    def failing(self, tensor: Tensor) -> Any:
        """The result of `agog_core.tensors.convert.failing`."""
        self.note_failure()
        return self.known(tensor)._host()

    def decided(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> Any:
        """The result of `agog_core.tensors.convert.decided`."""
        raise NotImplementedError

    def look(self, array: Any) -> None:
        """Let Python look at an array of the traced function, or raise."""

    def draw(self, op_seed: int | None, values: int) -> Any:
        """The key of random bits; see `Generator.reserve`."""
        raise NotImplementedError

    def count_keys(self) -> int:
        """How many keys of random bits were drawn."""
        return 0

    def keys_after(self, count: int) -> dict[Any, Tensor]:
        """Tensors of the keys drawn after so many, by their ops' seeds, with their values in this call."""
        return {}

    def recorded(self, tensor: Tensor) -> Tensor:
        """A tensor whose ops are recorded, also where it is a constant."""
        return tensor

    def temporary(self, value: Tensor) -> Variable:
        """A variable that the function makes for itself at each call."""
        raise NotImplementedError

    def eager_scope(self) -> AbstractContextManager[Any]:
        """A ``with`` block in which ops run as in eager code, on the values of this call."""
        raise NotImplementedError

    def late(self, function: Callable[[], Any]) -> Any:
        """The result of `late`."""
        raise NotImplementedError

    def chosen(self, condition: Any, functions: dict[bool, Callable[[], Any]]) -> Any:
        """The result of `chosen`."""
        return functions[bool(condition)]()

    def iterated(self, condition: Any, step: Any, values: Any, limit: int | None, is_same: Any) -> Any:
        """The result of `iterated`."""
        return _iterated(condition, step, values, limit)

    def note_python(self) -> None:
        """Note that a function of the program runs."""

    def over_rows(self, step: Any, carry: Any, rows: Sequence[Any], carries: bool) -> list[Any]:
        """The result of `over_rows`."""
        return _over_rows(step, carry, rows, carries)

    def note_tape(self) -> None:
        """Note that a tape begins to record."""

    def take(self) -> None:
        """Refuse that Python takes something anew at each call, such as an element of an iterator from outside."""

    def operand(self, number: Any, dtype: DType) -> Any:
        """The result of `operand`."""
        return number

    def host(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Tensor],
        dtypes: Sequence[Any],
        has_sizes: bool = False,
        may_fail: bool = False,
        **late: Any,
    ) -> list[Tensor]:
        """The result, at each run, of agog's own pure function of tensors' values; see
        `agog_core.tensors.convert.computed`.
        """
        raise NotImplementedError

    def hosted(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """The result of `agog_core.tensors.convert.at_each_run`."""
        raise NotImplementedError

    def python(self, function: Callable[..., Any], inputs: Sequence[Tensor], dtypes: Sequence[Any]) -> list[Tensor]:
        """The result, at each run, of a program's function of tensors' values, with any side effects."""
        raise NotImplementedError


# One entry per function that is being traced in any thread. Others look at the context only while it is not empty.
tracing: list[Tracer] = []
# What traces in this thread or task.
tracer_of_context: ContextVar[Tracer | None] = ContextVar("agog_tracer", default=None)
present_tracer = tracer_of_context.get  # bound once, as it is asked for each op


def present_recorder() -> Tracer | None:
    """The tracer that records what is done here; None in eager code, or where a traced function looks at values."""
    tracer = present_tracer() if tracing else None
    return tracer if tracer is not None and tracer.records else None


@contextmanager
def apart() -> Iterator[None]:
    """A block outside the trace of a function, such as restoring its new variables."""
    token = tracer_of_context.set(None)
    try:
        yield
    finally:
        tracer_of_context.reset(token)


def seen(variable: Variable, tensor: Tensor) -> Tensor:
    """The value of a variable's read during tracing."""
    tracer = present_tracer()
    return tensor if tracer is None else tracer.read(variable, tensor)


def late(function: Callable[[], Any]) -> Any:
    """The result of a function of Python and of variables now; in a traced function, at each call.

    For hyperparameters, which only ops with ``Op.late`` attributes take.

    >>> late(lambda: 0.5)
    0.5
    """
    if tracing and (tracer := present_tracer()) is not None:
        return tracer.late(function)
    return function()


def recorded(tensor: Tensor) -> Tensor:
    """A tensor as an op takes it beside a key of random bits, which is another one at each call."""
    if tracing and (tracer := present_tracer()) is not None:
        return tracer.recorded(tensor)
    return tensor


def chosen(condition: Any, functions: dict[bool, Callable[[], Any]]) -> Any:
    """The result of one of two functions, chosen by a condition; a traced loop may keep both.

    >>> chosen(1 < 2, {True: lambda: "yes", False: lambda: "no"})
    'yes'
    """
    if tracing and (tracer := present_tracer()) is not None:
        return tracer.chosen(condition, functions)
    return functions[bool(condition)]()


def iterated(
    condition: Callable[..., Any],
    step: Callable[[Any, int], Any],
    values: Any,
    limit: int | None,
    is_same: Callable[[Any], bool],
) -> Any:
    """Take steps from values to others while a condition holds; a traced function may join them.

    Args:
        condition: takes values, and returns a scalar of bool.
        step: takes values and the number of the step, from 1 on, and returns other values.
        values: a list or tuple of the first values.
        limit: how many steps there are at most; None for any number.
        is_same: whether values that the last step has given are handed on in the form of the first ones.

    Returns:
        The last values.

    >>> iterated(lambda x: x < 10, lambda values, number: [values[0] * 2], [1], None, lambda values: True)
    [16]
    """
    if tracing and (tracer := present_tracer()) is not None:
        return tracer.iterated(condition, step, values, limit, is_same)
    return _iterated(condition, step, values, limit)


def _iterated(condition: Any, step: Any, values: Any, limit: int | None) -> Any:
    number = 0
    while (limit is None or number < limit) and condition(*values):
        number += 1
        values = step(values, number)
    return values


def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function, possibly the program's own, such as a learning rate: in a traced function
    no lock is held while it runs, at later calls neither.

    >>> called(lambda: 0.5)
    0.5
    """
    if tracing and (tracer := present_tracer()) is not None and not _is_ours(function):
        tracer.note_python()
    return function(*arguments)


def _is_ours(function: Callable[..., Any]) -> bool:
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and module.split(".")[0].split("_")[0] == "agog"


def over_rows(step: Callable[[Any, Any], Any], carry: Any, rows: Sequence[Any], carries: bool) -> list[Any]:
    """What a function gives for each of some rows; it takes what it has given before, or always the same, and a row.

    >>> over_rows(lambda total, row: total + row, 0, [1, 2, 3], True)
    [1, 3, 6]
    """
    if tracing and (tracer := present_tracer()) is not None:
        return tracer.over_rows(step, carry, rows, carries)
    return _over_rows(step, carry, rows, carries)


def _over_rows(step: Any, carry: Any, rows: Sequence[Any], carries: bool) -> list[Any]:
    results = []
    for row in rows:
        result = step(carry, row)
        results.append(result)
        carry = result if carries else carry
    return results


def operand(number: Any, dtype: DType) -> Any:
    """A number that `late` gave, as ops take it beside a tensor of a dtype.

    >>> operand(late(lambda: 0.5), None)
    0.5
    """
    if tracing and (tracer := present_tracer()) is not None:
        return tracer.operand(number, dtype)
    return number

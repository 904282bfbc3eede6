"""Step: a decorator that makes the op of an optimizer's step from a signature."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any, ParamSpec, Protocol

from agog_core.calls.call import update
from agog_core.calls.multi_tensor import Step, takes_several, update_several
from agog_core.dispatch.op import Op
from agog_core.dtypes import FLOATING
from agog_core.shapes import Shape
from agog_core.variables.variable import Variable

P = ParamSpec("P")


class OptimizerStep(Protocol[P]):
    """A function that takes one step of an optimizer for one variable; ``several`` takes it for many."""

    def __call__(self, *args: P.args, **attributes: P.kwargs) -> None: ...

    def several(self, steps: Iterable[Step], **attributes: Any) -> None:
        """Take it for each ``((variable, *slots), (gradient,))``, with the same attributes; at once where it can be."""

    def takes_several(self, variable: Variable) -> bool:
        """Whether it is taken at once for variables on the device of this one."""


def step(public: Callable[P, None]) -> OptimizerStep[P]:
    """Make an op of a step. What it takes comes in this order: the variable and its slots, which are annotated
    ``Variable`` and updated in place; the gradient, of their shape and dtype; the attributes of the kernel.
    """
    *names, _ = public.__annotations__  # the last one is what it returns
    count = list(public.__annotations__.values()).count("Variable")
    variables, gradient, attributes = names[:count], names[count], names[count + 1 :]
    keywords = ", ".join(f"{name}={name}" for name in attributes)
    scope: dict[str, Any] = {"update": update, "update_several": update_several, "__name__": public.__module__}
    # Functions written out, as named tuples have them, are twice as fast as those of *args and **kwargs.
    exec(
        f"def {public.__name__}({', '.join(names)}): update(op, [{', '.join(variables)}], [{gradient}], {keywords})\n"
        f"def several(steps, {', '.join(attributes)}): update_several(op, steps, {keywords})",
        scope,
    )
    written: Any = scope[public.__name__]
    assert isinstance(public, FunctionType)
    written.__defaults__ = scope["several"].__defaults__ = public.__defaults__
    function: Any = update_wrapper(written, public)
    op = Op(
        public.__name__,
        function,
        inputs=[*variables, gradient],
        shape=first_shape,
        dtypes=FLOATING,
        updates=variables,
        late=[name for name in attributes if public.__annotations__[name] in ("float", "int")],
    )
    scope["op"] = op
    function.several, function.takes_several = scope["several"], partial(takes_several, op)
    return function  # type: ignore[no-any-return]  # it has what the protocol asks for


def first_shape(variable: Shape, *others: Shape, **attributes: Any) -> Shape:
    """The shape rule of updates: they have the variable's shape; `agog_core.calls.call.update` compares the others."""
    return variable

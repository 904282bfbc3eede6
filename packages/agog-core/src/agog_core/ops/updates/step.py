"""Step: makes an op of an optimizer's step out of a signature with a docstring."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any, ParamSpec

from agog_core.calls.call import update
from agog_core.dispatch.op import Op
from agog_core.dtypes import FLOATING
from agog_core.shapes import Shape

P = ParamSpec("P")


def step(public: Callable[P, None]) -> Callable[P, None]:
    """Make an op of a step. What it takes comes in this order: the variable and its slots, which are annotated
    ``Variable`` and updated in place; the gradient, of their shape and dtype; the attributes of the kernel.
    """
    *names, _ = public.__annotations__  # the last one is what it returns
    count = list(public.__annotations__.values()).count("Variable")
    variables, gradient, attributes = names[:count], names[count], names[count + 1 :]
    # A function written out, as named tuples have it, is twice as fast as one of *args and **kwargs.
    keywords = ", ".join(f"{name}={name}" for name in attributes)
    body = f"update(op, [{', '.join(variables)}], [{gradient}], {keywords})"
    scope: dict[str, Any] = {"update": update, "__name__": public.__module__}
    exec(f"def {public.__name__}({', '.join(names)}): {body}", scope)
    written: Any = scope[public.__name__]
    assert isinstance(public, FunctionType)
    written.__defaults__ = public.__defaults__
    function = update_wrapper(written, public)
    scope["op"] = Op(
        public.__name__,
        function,
        inputs=[*variables, gradient],
        shape=first_shape,
        dtypes=FLOATING,
        updates=variables,
        late=[name for name in attributes if public.__annotations__[name] in ("float", "int")],
    )
    return function


def first_shape(variable: Shape, *others: Shape, **attributes: Any) -> Shape:
    """The shape rule of updates: they have the variable's shape; `agog_core.calls.call.update` compares the others."""
    return variable

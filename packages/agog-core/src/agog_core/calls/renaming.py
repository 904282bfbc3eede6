"""Renaming: the name and parameter names of a public function for a generated one."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType

from agog_core.tensors.tensor import Tensor


def named_like(function: Callable[..., Tensor], public: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Give a generated function the name, parameter names and docstring of the public one.

    `unary` and `binary` generate all elementwise ops from two functions. A closure alone has three drawbacks, which a
    copied code object avoids:

    - keywords: ``tf.igamma(a=1.0, x=2.0)`` works since ``co_varnames`` begins with the public parameters' names. Local
      variables of the same names get an underscore in front, so that no name stands for two things.
    - profiles and tracebacks say ``igamma``, not ``function``, since they read ``co_name`` and ``co_qualname``.
    - CPython specialises bytecode in place, in the code object. Functions that share one spoil each other's
      specialisations (`exp` of float32 beside `equal` of strings), so each op gets a copy.

    Defaults and closure stay the generated function's own: the closure holds the op, its vjps and its name.
    """
    assert isinstance(function, FunctionType)
    assert isinstance(public, FunctionType)
    code, signature = function.__code__, public.__code__
    count = signature.co_argcount
    if count != code.co_argcount or signature.co_varnames[count - 1] != "name":
        raise TypeError(f"{public.__name__}: the signature of an elementwise op is its inputs and name=None.")
    local_names = tuple(f"_{n}" if n in signature.co_varnames[:count] else n for n in code.co_varnames[count:])
    renamed = code.replace(
        co_name=public.__name__,
        co_qualname=public.__qualname__,
        co_varnames=(*signature.co_varnames[:count], *local_names),
    )
    generated = FunctionType(
        renamed, function.__globals__, public.__name__, function.__defaults__, function.__closure__
    )
    update_wrapper(generated, public)
    return generated

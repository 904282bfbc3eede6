"""Host functions: functions of values on the host that a traced function keeps as data, by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core.dtypes import DType

# What makes each, by name; see `host_function`.
makers: dict[str, Callable[..., Callable[..., Any]]] = {}


class HostFunction:
    """A function of arrays that a name and data stand for.

    Args:
        name: of what makes it.
        data: what that takes: numbers, texts, arrays, dtypes, and lists and dicts of them.
        function: what it has made.
    """

    __slots__ = ("__weakref__", "data", "function", "name", "result_dtypes", "sample")

    def __init__(self, name: str, data: dict[str, Any], function: Callable[..., Any]) -> None:
        self.name, self.data, self.function = name, data, function
        self.sample = function  # what is called for samples, which need not be values that it takes
        self.result_dtypes: Sequence[DType] = ()

    def __call__(self, *arrays: Any, **late: Any) -> Any:
        return self.function(*arrays, **late)


def host_function(name: str) -> Callable[[Callable[..., Callable[..., Any]]], Callable[..., HostFunction]]:
    """Register what makes functions of values on the host: what it is called with is kept in their place.

    >>> @host_function("doctest.plus")
    ... def _plus(number):
    ...     return lambda host: [host + number]
    >>> plus = _plus(number=2)
    >>> plus(1), plus.name, plus.data
    ([3], 'doctest.plus', {'number': 2})
    """

    def register(make: Callable[..., Callable[..., Any]]) -> Callable[..., HostFunction]:
        makers[name] = make
        return lambda **data: HostFunction(name, data, make(**data))

    return register

"""Function layer: a function as a layer, for calls of ``tf.keras.ops`` and others on symbolic values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from functools import wraps
from typing import Any

from agog_core import Tensor, TensorShape, nest
from agog_layers.layer.layer import Layer
from agog_layers.layer.symbolic import Symbolic
from agog_layers.naming.names import layer_names
from agog_layers.serialization.memory_limit import allowance

__all__ = ["Called"]

# The functions, by name: those of ``tf.keras.ops``, and others with the name of their room before theirs.
_functions: dict[str, Callable[..., Any]] = {}
# Those whose results have as many numbers as the input, times those that arguments say; and those where arguments alone
# say it.
_MULTIPLYING = {"linspace", "logspace", "multi_hot", "one_hot", "pad", "repeat", "segment_max", "segment_sum", "tile"}
_SIZED = {"arange", "bincount", "broadcast_to", "empty", "eye", "full", "ones", "scatter", "tri", "zeros"}
# What stands for an input among the arguments.
_INPUT = "<input>"


class Called(Layer):
    """Call a function; symbolic values make such layers of calls of ``tf.keras.ops``, ``backend`` and ``losses``.

    Args:
        function: its name in ``tf.keras.ops``; in other rooms with the room's, such as ``"losses.hinge"``.
        arguments: the arguments, with ``"<input>"`` for those that are inputs.
        options: those that are given by name.
        name: the layer's name; by default the function's, with a number from the second one on.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the function is unknown.
    """

    def __init__(
        self,
        function: str,
        arguments: Sequence[Any],
        options: Mapping[str, Any],
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if function not in _functions:
            raise ValueError(f"Called: no function that takes symbolic values is called {function!r}.")
        super().__init__(name=name or layer_names.unique(function.rpartition(".")[2]), **kwargs)
        self.function, self.arguments, self.options = function, list(arguments), dict(options)
        self._is_enlarging = function in _MULTIPLYING or function in _SIZED

    def call(self, inputs: Any) -> Any:
        """Call the function with a tensor, or a list of those arguments that are inputs."""
        values = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        if self._is_enlarging:
            allowance.get().check(f"the output of layer {self.name!r}", lambda: [self._bound(values)])
        given = iter(values)
        arguments, options = _with_inputs([self.arguments, self.options], given)
        return _functions[self.function](*arguments, **options)

    def _bound(self, values: Sequence[Any]) -> TensorShape:
        """A shape of at least as many numbers as the output has."""
        sizes = [1 + abs(leaf) for leaf in nest.flatten([self.arguments, self.options]) if type(leaf) is int]
        return TensorShape([*sizes, *(values[0].shape if self.function in _MULTIPLYING else ())])


def _with_inputs(value: Any, given: Iterator[Any]) -> Any:
    if isinstance(value, str) and value == _INPUT:
        return next(given)
    if isinstance(value, (list, tuple)):
        return [_with_inputs(each, given) for each in value]
    if isinstance(value, Mapping):
        return {key: _with_inputs(each, given) for key, each in value.items()}
    return value


def _without_inputs(value: Any, found: list[Symbolic]) -> Any:
    """A value with marks in place of symbolic ones, which are added to a list."""
    if isinstance(value, Symbolic):
        found.append(value)
        return _INPUT
    if isinstance(value, (list, tuple)):
        return [_without_inputs(each, found) for each in value]
    return value.numpy() if isinstance(value, Tensor) else value


def _has_symbols(values: Any) -> bool:
    for value in values:  # noqa: SIM110  # each loss of tensors asks, and a generator takes four times as long
        if type(value) is Symbolic or (isinstance(value, (list, tuple)) and _has_symbols(value)):
            return True
    return False


def can_call(name: str) -> bool:
    """Whether `Called` knows a function of this name."""
    return name in _functions


def taking_symbols(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of tensors take symbolic values too, of which it makes a layer."""

    @wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        if not (_has_symbols(args) or (kwargs and _has_symbols(kwargs.values()))):
            return function(*args, **kwargs)
        symbols: list[Symbolic] = []
        arguments = _without_inputs(list(args), symbols)
        options = {key: _without_inputs(value, symbols) for key, value in kwargs.items()}
        return Called(name, arguments, options)(symbols[0] if len(symbols) == 1 else symbols)

    _functions[name] = function
    return either


def take_symbols(namespace: MutableMapping[str, Any], without: Sequence[str] = (), room: str = "") -> None:
    """Let the functions that a namespace offers take symbolic values, but for some; the room tells those of others that
    have the same names."""
    for name in namespace["__all__"]:
        if name not in without:
            namespace[name] = taking_symbols(f"{room}.{name}" if room else name, namespace[name])

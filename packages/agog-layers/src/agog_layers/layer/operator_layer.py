"""Operator layer: an operator of Python as a layer, for symbolic values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from agog_layers.layer.layer import Layer
from agog_layers.layer.symbolic import Symbolic
from agog_layers.naming.names import layer_names

__all__ = ["MaskOf", "Operation"]

_UNARY = ("abs", "neg")
_ARITHMETIC = ("add", "floordiv", "matmul", "mod", "mul", "pow", "sub", "truediv")
_COMPARISONS = ("ge", "gt", "le", "lt")
# In the order in which the error lists them.
_OPERATORS = (*_UNARY, *sorted((*_ARITHMETIC, *_COMPARISONS, "getitem")))


class Operation(Layer):
    """Apply an operator; symbolic values make such layers of expressions.

    Args:
        operator: its name in Python's module `operator`.
        constants: the operands, with None for those that are inputs.
        name: the layer's name; by default the operator's, with a number from the second one on.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the operator is unknown.

    >>> import agog_core as ag
    >>> print(Operation("sub", [1.0, None])(ag.constant([0.25])))
    tf.Tensor([0.75], shape=(1,), dtype=float32)
    """

    def __init__(self, operator: str, constants: Sequence[Any], name: str | None = None, **kwargs: Any) -> None:
        if operator not in _OPERATORS:
            raise ValueError(f"Operation: operator must be one of {', '.join(_OPERATORS)}; got {operator!r}.")
        super().__init__(name=name or layer_names.unique(operator), **kwargs)
        self.operator = operator
        # In descriptions tuples are lists. The index of `getitem` is a tuple, in which lists are positions to gather.
        self.constants = [
            tuple(each) if isinstance(each, list) and operator == "getitem" else each for each in constants
        ]

    def call(self, inputs: Any) -> Any:
        """Apply the operator to a tensor, or a list of those operands that are no constants."""
        given = iter(inputs if isinstance(inputs, (list, tuple)) else [inputs])
        operands = [next(given) if constant is None else constant for constant in self.constants]
        return getattr(operator, self.operator)(*operands)


def _apply(operator: str, *operands: Any) -> Any:
    symbols = [operand for operand in operands if isinstance(operand, Symbolic)]
    constants = [None if isinstance(operand, Symbolic) else operand for operand in operands]
    return Operation(operator, constants)(symbols[0] if len(symbols) == 1 else symbols)


def _item(self: Symbolic, key: Any) -> Any:
    return _apply("getitem", self, key if isinstance(key, tuple) else (key,))


def _method(name: str, swapped: bool = False) -> Callable[..., Any]:
    def method(self: Symbolic, *other: Any) -> Any:
        return _apply(name, *other, self) if swapped else _apply(name, self, *other)

    return method


class MaskOf(Layer):
    """Return the mask that goes along with the input.

    >>> from agog_layers import Input, Masking
    >>> MaskOf(name="mask")(Masking()(Input(shape=[5, 3])))
    <Symbolic 'mask' shape=(?, 5) dtype=bool>
    """

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask."""
        return mask


def _mask(self: Symbolic) -> Symbolic | None:
    """The mask that goes along with this value; None for none."""
    return MaskOf()(self) if self.mask_rank else None


Symbolic.mask = _mask  # type: ignore[method-assign]  # as the operators
for _name in _OPERATORS:
    setattr(Symbolic, f"__{_name}__", _method(_name))
Symbolic.__getitem__ = _item  # type: ignore[method-assign]
for _name in _ARITHMETIC:
    setattr(Symbolic, f"__r{_name}__", _method(_name, swapped=True))

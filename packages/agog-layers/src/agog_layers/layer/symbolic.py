"""Symbolic values: results of layers on an `Input`, from which functional models are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from agog_core import DType, TensorShape, nest

__all__ = ["Connected", "Ends", "Node", "Symbolic"]


class Symbolic:
    """A value that is known by shape and dtype alone: the output of a call of a layer.

    Layers, operators and indexing take it, and give another. Functions of tensors do not; a ``Lambda`` layer
    calls them.

    Args:
        shape: its shape; the batch's size is mostly unknown.
        dtype: its dtype.
        name: what errors call it.

    >>> from agog_layers import Dense, Input
    >>> Dense(3)(Input(shape=[4])) * 2.0
    <Symbolic 'mul' shape=(?, 3) dtype=float32>
    """

    # Arrays leave their operators to this class.
    __array_ufunc__ = None
    __iter__ = None

    node: Node

    def __init__(self, shape: TensorShape, dtype: DType, name: str, mask_rank: int = 0) -> None:
        self.shape, self.dtype, self.name = shape, dtype, name
        # How many axes the mask has that goes along with it; 0 for no mask.
        self.mask_rank = mask_rank

    def get_shape(self) -> TensorShape:
        """The same as ``shape``."""
        return self.shape

    @property
    def ndim(self) -> int | None:
        """The number of axes, with that of the batch; None if it is unknown."""
        return self.shape.ndims

    def __repr__(self) -> str:
        return f"<Symbolic {self.name!r} shape={self.shape} dtype={self.dtype.name}>"

    def __bool__(self) -> NoReturn:
        raise TypeError(self._no_value())

    def __tensor__(self) -> NoReturn:
        raise TypeError(self._no_value())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(self._no_value())

    def _no_value(self) -> str:
        return (
            f"{self!r} has no value: it stands for what layers will be called on. Call the function of tensors in a "
            "layer: tf.keras.layers.Lambda(lambda x: ...)(x); give terms of the loss to model.add_loss."
        )

    if TYPE_CHECKING:  # `operation` attaches them: they make layers

        def mask(self) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...


class Node:
    """A call of a layer on symbolic values and further arguments, and the symbolic values that came out."""

    def __init__(self, layer: Any, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: Any) -> None:
        self.layer, self.inputs, self.args, self.kwargs, self.outputs = layer, inputs, args, kwargs, outputs
        for symbol in nest.flatten(outputs):
            symbol.node = self

    def parents(self) -> list[Symbolic]:
        """The symbolic values that the call takes, in the order of the arguments."""
        leaves = nest.flatten([self.inputs, list(self.args), self.kwargs])
        return [leaf for leaf in leaves if isinstance(leaf, Symbolic)]


class Ends(NamedTuple):
    """The symbolic inputs and outputs of a call."""

    inputs: Any
    outputs: Any


class _FirstCall:
    """An attribute of layers that is read from the first symbolic call; a layer's own attribute goes before."""

    def __init__(self, what: str, read: Callable[[Ends], Any]) -> None:
        self.what, self.read = what, read

    def __get__(self, layer: Connected | None, owner: type) -> Any:
        if layer is None:
            return self
        ends = layer._first_call()
        if ends is None:
            raise AttributeError(
                f"{layer._title} has no {self.what}: it was not called on a tf.keras.Input, or on what comes of one."
            )
        return self.read(ends)


def _shapes(structure: Any) -> Any:
    return nest.map_structure(lambda symbol: symbol.shape, structure)


def _masks(structure: Any) -> Any:
    """The masks that go along with symbolic values, as such values; None for those without."""
    return nest.map_structure(lambda symbol: symbol.mask(), structure)


class Connected:
    """The calls of a layer on symbolic values."""

    name: Any
    input = _FirstCall("input", lambda node: node.inputs)
    output = _FirstCall("output", lambda node: node.outputs)
    input_shape = _FirstCall("input shape", lambda node: _shapes(node.inputs))
    output_shape = _FirstCall("output shape", lambda node: _shapes(node.outputs))
    input_mask = _FirstCall("input mask", lambda node: _masks(node.inputs))
    output_mask = _FirstCall("output mask", lambda node: _masks(node.outputs))

    @property
    def nodes(self) -> list[Node]:
        """The layer's calls on symbolic values."""
        nodes: list[Node] = vars(self).setdefault("_nodes", [])
        return nodes

    @property
    def _title(self) -> str:
        """The layer's label in errors: its class, and its name."""
        return f"{type(self).__name__} layer {self.name!r}"

    def _first_call(self) -> Ends | None:
        """The inputs and outputs of the first call on symbolic values; None if there was none."""
        return Ends(self.nodes[0].inputs, self.nodes[0].outputs) if self.nodes else None

    def get_input_at(self, node_index: int) -> Any:
        """The symbolic values that the layer's n-th call on such took; a ValueError if there was none."""
        return self._node(node_index).inputs

    def get_output_at(self, node_index: int) -> Any:
        """The symbolic values that came of the layer's n-th call on such; a ValueError if there was none."""
        return self._node(node_index).outputs

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shapes of what `get_input_at` gives."""
        return _shapes(self.get_input_at(node_index))

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shapes of what `get_output_at` gives."""
        return _shapes(self.get_output_at(node_index))

    def get_input_mask_at(self, node_index: int) -> Any:
        """The masks that go along with what `get_input_at` gives; None for those without."""
        return _masks(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int) -> Any:
        """The masks that go along with what `get_output_at` gives; None for those without."""
        return _masks(self.get_output_at(node_index))

    def _node(self, index: int) -> Node:
        if not 0 <= index < len(self.nodes):
            raise ValueError(
                f"{self._title}: there is no call {index} on symbolic values; there are {len(self.nodes)}."
            )
        return self.nodes[index]

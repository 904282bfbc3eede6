"""Input: the symbolic values that functional models start from."""

from __future__ import annotations

from typing import Any

from agog_core import TensorShape, as_dtype
from agog_layers.layer.layer import Layer
from agog_layers.layer.policy import global_policy
from agog_layers.layer.symbolic import Node, Symbolic
from agog_layers.naming.names import layer_names

__all__ = ["Input", "InputLayer"]


class InputLayer(Layer):
    """The layer that stands for an input of a model.

    Args:
        input_shape: the shape of one example, without the batch axis.
        batch_size: the size of the batch axis; None for any.
        dtype: the dtype; None for float32.
        name: the layer's name; by default ``input_1`` and so on.
        batch_input_shape: the shape with the batch axis, instead of the first two.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: there is no shape.

    >>> InputLayer(input_shape=(4,)).output
    <Symbolic 'input_...' shape=(?, 4) dtype=float32>
    """

    def __init__(
        self,
        input_shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        name: str | None = None,
        batch_input_shape: Any = None,
        **kwargs: Any,
    ) -> None:
        if input_shape is None and batch_input_shape is None:
            raise ValueError("Input: say the shape of one example, tf.keras.Input(shape=...); () is that of a number.")
        super().__init__(
            name=name or layer_names.unique("input", taken=("input",)),
            dtype=dtype or global_policy().variable_dtype,
            input_shape=input_shape,
            batch_input_shape=batch_input_shape,
            batch_size=batch_size,
            **kwargs,
        )
        self.built = True
        symbol = Symbolic(TensorShape(self.batch_input_shape), as_dtype(self.dtype), self.name)
        self.nodes.append(Node(self, (), (), {}, symbol))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


def Input(  # TensorFlow's name
    shape: Any = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
    *,
    batch_shape: Any = None,
) -> Symbolic:
    """A symbolic value to call layers on; `Model` makes a model of the calls.

    Args:
        shape: the shape of one example, without the batch axis; None for unknown sizes.
        batch_size: the size of the batch axis; None for any.
        name: the name of the input; by default ``input_1`` and so on.
        dtype: the dtype; None for float32.
        sparse: must be False.
        tensor: must be None.
        batch_shape: the shape with the batch axis, instead of ``shape`` and ``batch_size``.

    Returns:
        The symbolic value.

    Raises:
        ValueError: there is no shape.
        NotImplementedError: ``sparse`` or ``tensor`` is given.

    >>> from agog_layers import Dense, Model
    >>> x = Input(shape=(4,))
    >>> model = Model(inputs=x, outputs=Dense(3)(x))
    >>> import agog_core as ag
    >>> model(ag.zeros([2, 4])).shape
    TensorShape([2, 3])
    """
    if sparse or tensor is not None:
        raise NotImplementedError("Input: sparse and tensor are not supported; make a dense Input, and call the model.")
    symbol: Symbolic = InputLayer(shape, batch_size, dtype, name, batch_shape).output
    return symbol

"""Sequential: a model whose layers follow one another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from agog_core import TensorShape
from agog_layers.layer import Layer
from agog_layers.model import Model
from agog_layers.naming import scope


class Sequential(Model):
    """A model that feeds each layer's output to the next.

    Args:
        layers: the layers.
        name: the model's name; by default ``sequential``, with a number from the second one on.

    >>> import agog_core as ag
    >>> from agog_layers import Dense, Flatten
    >>> model = Sequential([Flatten(input_shape=(2, 2)), Dense(3, name="logits")], name="linear")
    >>> [v.name for v in model.variables]
    ['linear/logits/kernel:0', 'linear/logits/bias:0']
    >>> model(ag.zeros([5, 2, 2])).shape
    TensorShape([5, 3])
    """

    _layer_list: list[Layer]
    _layer_calls: list[tuple[Layer, bool]]

    def __init__(self, layers: Iterable[Layer] | None = None, name: str | None = None) -> None:
        super().__init__(name)
        # Past __setattr__: the checkpoint knows the layers under "layers" only.
        vars(self).update(_layer_list=[], _layer_calls=[])
        self._tracked_parts["layers"] = self._layer_list
        self._output_shape: Any = None
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Layer]:
        """The layers, in the order of their calls."""
        self._check_initialized()
        return list(self._layer_list)

    def add(self, layer: Layer) -> None:
        """Append a layer; it is built at once when the shape of its input is known.

        Args:
            layer: the layer.

        Raises:
            TypeError: it is not a layer.
        """
        self._check_initialized()
        if not isinstance(layer, Layer):
            raise TypeError(f"Sequential {self.name!r} takes layers; got {layer!r} of type {type(layer).__name__}.")
        shape = self._output_shape if self._layer_list else layer.batch_input_shape
        self._layer_list.append(layer)
        self._layer_calls.append((layer, takes_training(layer.call)))
        if shape is not None:
            self._output_shape = self._build_layer(layer, shape)
            self.built = True

    def _build_layer(self, layer: Layer, shape: Any) -> Any:
        if layer._dtype is None and len(self._layer_list) > 1:
            layer._dtype = self._layer_list[-2].dtype
        token = scope.set(self._full_path() + "/")
        try:
            if not layer.built:
                layer.build(TensorShape(shape))
            return layer.compute_output_shape(shape)
        finally:
            scope.reset(token)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Run the layers one after another.

        Args:
            inputs: the input of the first layer.
            training: passed on to those layers whose ``call`` has such an argument, unless it is None.
            mask: not used; kept for compatibility.

        Returns:
            The output of the last layer.

        Raises:
            ValueError: there are no layers.
        """
        if not self._layer_calls:
            raise ValueError(f"Sequential {self.name!r} has no layers; add one first.")
        outputs = inputs
        for layer, trains in self._layer_calls:
            outputs = layer(outputs) if training is None or not trains else layer(outputs, training=training)
        return outputs


def takes_training(function: Callable[..., Any]) -> bool:
    """Whether a function has an argument ``training``.

    Args:
        function: any function.

    Returns:
        True when it can be called with ``training=...`` by its signature.
    """
    import inspect  # here, because its import takes milliseconds

    try:
        return "training" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False

"""Sequential: a model with a chain of layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from agog_core import TensorSpec
from agog_core.settable import has_changed
from agog_layers.arguments.checks import shown
from agog_layers.arguments.signature import takes_training
from agog_layers.layer.layer import Layer
from agog_layers.layer.symbolic import Ends, Symbolic
from agog_layers.models.input import InputLayer
from agog_layers.models.model import Model
from agog_layers.naming.names import scope
from agog_layers.serialization.custom_objects import custom_object_scope
from agog_layers.serialization.description import describe, revive

__all__ = ["Sequential"]


class Sequential(Model):
    """A model that feeds each layer's output to the next.

    Args:
        layers: the layers; an `Input` may be the first, and says the input's shape.
        name: the model's name; by default ``sequential``, with a number from the second one on.

    >>> import agog_core as ag
    >>> from agog_layers import Dense, Flatten
    >>> model = Sequential([Flatten(input_shape=(2, 2)), Dense(3, name="logits")], name="linear")
    >>> [v.name for v in model.variables]
    ['linear/logits/kernel:0', 'linear/logits/bias:0']
    >>> model(ag.zeros([5, 2, 2])).shape
    TensorShape([5, 3])
    """

    own_parts: ClassVar[tuple[str, ...]] = ("layers", "inputs", "outputs")

    _layer_list: list[Layer]
    _layer_calls: list[tuple[Layer, bool]]
    # The input, and what each layer makes of it, when its shape is known.
    _symbols: list[Any]

    def __init__(self, layers: Iterable[Layer | Symbolic] | None = None, name: str | None = None) -> None:
        super().__init__(name=name)
        # Past __setattr__: the checkpoint knows the layers under "layers" only.
        vars(self).update(_layer_list=[], _layer_calls=[], _symbols=[])
        self._tracked_parts["layers"] = self._layer_list
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Layer]:
        """The layers, in the order of their calls."""
        self._check_initialized()
        return list(self._layer_list)

    @property
    def _input_symbols(self) -> list[Symbolic] | None:
        """The symbolic input, as a list; None while its shape is unknown."""
        return self._symbols[:1] or None

    @property
    def _output_symbols(self) -> list[Symbolic] | None:
        """The layers' outputs for the symbolic input, as a list; None while its shape is unknown."""
        return self._symbols[-1:] or None

    def _first_call(self) -> Ends | None:
        return Ends(self._symbols[0], self._symbols[-1]) if self._symbols else super()._first_call()

    def add(self, layer: Layer | Symbolic) -> None:
        """Append a layer; it is built at once when the shape of its input is known.

        Args:
            layer: the layer; an `InputLayer`, or an `Input`, as the first says the input's shape only.

        Raises:
            TypeError: it is not a layer, or one after the first that returns several tensors.
            ValueError: an `InputLayer` is not the first, or the first layer returns several tensors.
        """
        self._check_initialized()
        if isinstance(layer, Symbolic) and isinstance(layer.node.layer, InputLayer):
            layer = layer.node.layer
        if not isinstance(layer, Layer):
            raise TypeError(f"Sequential {self.name!r} takes layers; got {shown(layer)}.")
        if isinstance(layer, InputLayer):
            if self._layer_list or self._symbols:
                raise ValueError(f"Sequential {self.name!r}: InputLayer {layer.name!r} must be the first layer.")
            self._symbols.append(layer.output)
            return
        if not self._layer_list:
            self._take_input(layer)
        if self._symbols:
            self._symbols.append(self._single(layer, self._called(layer, self._symbols[-1])))
            self.built = True
        self._layer_list.append(layer)
        self._layer_calls.append((layer, takes_training(layer.call)))
        self._note_change()

    def _take_input(self, layer: Layer) -> None:
        """Let the first layer say the input's shape, or keep it there for the description."""
        inner = layer.inputs if isinstance(layer, Model) else None
        if self._symbols:
            layer.batch_input_shape = self._symbols[0].shape
        elif inner is not None or layer.batch_input_shape is not None:
            shape = layer.batch_input_shape if inner is None else inner[0].shape
            dtype = layer.dtype if inner is None else inner[0].dtype
            name = f"{layer.name}_input"
            self._symbols.append(InputLayer(batch_input_shape=shape, dtype=dtype, name=name).output)

    def _called(self, layer: Layer, symbol: Symbolic) -> Any:
        token = scope.set(self._full_path() + "/")
        try:
            return layer(symbol)
        finally:
            scope.reset(token)

    def _single(self, layer: Layer, output: Any) -> Symbolic:
        if isinstance(output, Symbolic):
            return output
        error = TypeError if self._layer_list else ValueError  # as in Keras
        raise error(
            f"Sequential {self.name!r}: layers must return one tensor each; {layer.name!r} returned a "
            f"{type(output).__name__} of {len(output)}. Use the functional API: tf.keras.Model(inputs, outputs)."
        )

    def pop(self) -> None:
        """Remove the last layer.

        Raises:
            TypeError: there are no layers.
        """
        if not self._layer_list:
            raise TypeError(f"Sequential {self.name!r} has no layers to remove.")
        for each in (self._layer_list, self._layer_calls, self._symbols):
            del each[-1:]
        if not self._layer_list:
            self._symbols.clear()
        self._note_change()

    def _note_change(self) -> None:
        for name in ("_layer_list", "_layer_calls", "_symbols", "_tracked_parts"):
            has_changed(self, name)

    def get_config(self) -> dict[str, Any]:
        """Describe the layers by what JSON can hold; and the input's shape, where the first call has said it."""
        if self._makes_its_parts:
            return super().get_config()
        config: dict[str, Any] = {"name": self.name, "layers": [describe(layer) for layer in self._layer_list]}
        first = self._built_on
        if not self._symbols and isinstance(first, TensorSpec) and first.dtype.is_floating:
            config["build_input_shape"] = [None, *first.shape.as_list()[1:]]
        return config

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Self:
        if "layers" not in config:
            return super().from_config(config, custom_objects)
        with custom_object_scope(custom_objects or {}):
            model = cls(revive(config["layers"], "layer"), name=config["name"])
        if config.get("build_input_shape") is not None:
            model.build(config["build_input_shape"])
        return model

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Run the layers one after another; those that take ``training`` get it, unless it is None."""
        if not self._layer_calls:
            raise ValueError(f"Sequential {self.name!r} has no layers; add one first.")
        if type(inputs) is dict and self._layer_list[0].single_input:
            raise ValueError(
                f"Sequential {self.name!r}: Passing a dictionary input to a Sequential Model which doesnt have "
                f"FeatureLayer as the first layer is an error; got a dict of {sorted(inputs)} for "
                f"{self._layer_list[0].name!r}, which takes one tensor. Pass that, or use the functional API."
            )
        outputs = inputs
        for layer, trains in self._layer_calls:
            outputs = layer(outputs) if training is None or not trains else layer(outputs, training=training)
        return outputs

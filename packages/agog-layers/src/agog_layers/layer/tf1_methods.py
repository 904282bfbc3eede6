"""TF1 methods: methods of TensorFlow 1's layers."""

from __future__ import annotations

from typing import Any

from agog_core import Variable

__all__ = ["OlderNames"]


class OlderNames:
    """Methods that have other names today."""

    def add_variable(
        self,
        name: str,
        shape: Any = (),
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        constraint: Any = None,
        **distribution: Any,
    ) -> Variable:
        """The older name of `add_weight`. See `Layer.add_weight`."""
        layer: Any = self
        made: Variable = layer.add_weight(
            name, shape, dtype, initializer, regularizer, trainable, constraint, **distribution
        )
        return made

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The same as ``updates``: nothing, since ops run as they are called."""
        return []

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Those of ``losses`` that were computed of inputs, as of activations; the others for None."""
        layer: Any = self
        with_inputs = [id(loss) for module in layer._walk(set()) for loss in module._call_losses]
        return [loss for loss in layer.losses if (id(loss) in with_inputs) == (inputs is not None)]

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The older name of calling the layer. See `Layer`."""
        layer: Any = self
        return layer(inputs, *args, **kwargs)

"""Constants: inputs of recurrent layers that are the same at each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from agog_core import TensorShape, convert_to_tensor
from agog_layers.arguments.signature import NOT_GIVEN
from agog_layers.layer.layer import Layer
from agog_layers.layer.symbolic import Symbolic

__all__ = ["TakesConstants"]


class TakesConstants(Layer):
    """Base of layers with ``constants`` in their calls, or at the end of the list of inputs, as many as in an earlier
    call.
    """

    # How many a call took; None before that.
    _num_constants: ClassVar[int | None] = None
    # Their shapes; a cell with constants gets them in `build` after its input's.
    _constant_shapes: ClassVar[Sequence[TensorShape]] = ()

    def __call__(self, inputs: Any = NOT_GIVEN, *args: Any, constants: Any = None, **kwargs: Any) -> Any:
        """Run the layer. See `Layer`."""
        if constants is None and self._num_constants and isinstance(inputs, (list, tuple)):
            inputs, constants = inputs[: -self._num_constants], inputs[-self._num_constants :]
        if constants is None:
            return super().__call__(inputs, *args, **kwargs)
        given = list(constants) if isinstance(constants, (list, tuple)) else [constants]
        given = [each if isinstance(each, Symbolic) else convert_to_tensor(each) for each in given]
        vars(self).update(_num_constants=len(given), _constant_shapes=[TensorShape(each.shape) for each in given])
        return super().__call__(inputs, *args, constants=given, **kwargs)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return config if self._num_constants is None else {**config, "num_constants": self._num_constants}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        others = {name: value for name, value in config.items() if name != "num_constants"}
        layer = super().from_config(others)
        vars(layer)["_num_constants"] = config.get("num_constants")
        return layer

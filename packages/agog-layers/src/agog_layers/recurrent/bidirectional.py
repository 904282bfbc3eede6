"""Bidirectional: a recurrent layer, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core import Tensor, add, concat, multiply, nest, reverse
from agog_layers.arguments.checks import shown
from agog_layers.arguments.signature import takes_training
from agog_layers.calls.input_shapes import each_shape
from agog_layers.recurrent.constants import TakesConstants
from agog_layers.recurrent.rnn import RNN
from agog_layers.recurrent.time_distributed import Wrapper

__all__ = ["Bidirectional"]

_MERGES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": add,
    "mul": multiply,
    "ave": lambda x, y: (x + y) * 0.5,
    "concat": lambda x, y: concat([x, y], axis=-1),
}


class Bidirectional(TakesConstants, Wrapper, supports_masking=True):
    """Run a recurrent layer forwards, a second one backwards, and merge the outputs.

    M. Schuster and K. Paliwal, "Bidirectional recurrent neural networks", IEEE Trans. Signal Processing 45, 1997.

    Args:
        layer: the recurrent layer; two are made as it is described.
        merge_mode: ``"concat"``, ``"sum"``, ``"mul"``, ``"ave"``, or None for a list of both outputs.
        weights: arrays to start with: those of the first layer, then those of the second one.
        **kwargs: further arguments of `Layer`.

    Raises:
        TypeError: ``layer`` is not recurrent.
        ValueError: ``merge_mode`` is something else, or the layer has variables already.

    >>> import agog_core as ag
    >>> from agog_layers import LSTM
    >>> Bidirectional(LSTM(4))(ag.zeros([2, 5, 3])).shape
    TensorShape([2, 8])
    """

    def __init__(self, layer: RNN, merge_mode: str | None = "concat", weights: Any = None, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        if not hasattr(layer, "go_backwards"):
            raise TypeError(f"{type(self).__name__}: layer must be recurrent, as LSTM is; got {shown(layer)}.")
        if merge_mode is not None and merge_mode not in _MERGES:
            raise ValueError(
                f"{type(self).__name__}: merge_mode must be one of {', '.join(_MERGES)} or None; got {merge_mode!r}."
            )
        if layer.built:
            raise ValueError(
                f"{type(self).__name__}: layer {layer.name!r} has variables already, and two new layers are made as "
                "it is described. Pass a new one, and arrays as weights."
            )
        self.merge_mode = merge_mode
        config = layer.get_config()
        backwards = not layer.go_backwards
        self.forward_layer = layer.from_config({**config, "name": f"forward_{layer.name}"})
        self.backward_layer = layer.from_config({**config, "name": f"backward_{layer.name}", "go_backwards": backwards})
        self.initial_weights = weights
        del self.layer  # its two copies hold the variables
        vars(self)["layer"] = layer

    def build(self, input_shape: Any) -> None:
        """Make the variables of both layers."""
        shape = each_shape(input_shape)[0]
        for each in (self.forward_layer, self.backward_layer):
            each._follow(self)
            vars(each)["_constant_shapes"] = self._constant_shapes
            each.build(shape)
        if self.initial_weights is not None:
            self.set_weights(self.initial_weights)
        self.built = True

    def call(
        self, inputs: Any, training: Any = None, mask: Any = None, initial_state: Any = None, constants: Any = None
    ) -> Any:
        """Run both layers.

        Args:
            inputs: a tensor of shape (batch, time, features), or a list of that and the initial states.
            training: passed on.
            mask: booleans of shape (batch, time), passed on.
            initial_state: the states of the first layer, then those of the second one; by default zeros.
            constants: passed on.

        Returns:
            The merged outputs, of shape (batch, ...) or (batch, time, ...); a list of both for ``merge_mode=None``.
            With ``return_state`` a list of that and the states of both.
        """
        x = inputs
        if isinstance(inputs, (list, tuple)):
            x, *given = inputs
            initial_state = given or initial_state
        options = {"training": training} if takes_training(self.forward_layer.call) else {}
        if constants is not None:
            options["constants"] = constants
        results = []
        states = nest.flatten(initial_state) if initial_state is not None else []
        half = len(states) // 2
        for each, own in ((self.forward_layer, states[:half]), (self.backward_layer, states[half:])):
            results.append(each(x, mask=mask, initial_state=own or None, **options))
        if not self.forward_layer.return_state:
            results = [[result] for result in results]
        (y, *first), (z, *second) = results
        if self.forward_layer.return_sequences:
            z = reverse(z, [1])
        output = [y, z] if self.merge_mode is None else _MERGES[self.merge_mode](y, z)
        if not self.forward_layer.return_state:
            return output
        return [*(output if self.merge_mode is None else [output]), *first, *second]

    def reset_states(self) -> None:
        """Forget the states of earlier calls, of both layers."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def _described(self, name: str) -> Any:
        return None if name == "weights" else super()._described(name)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the layer's output; for ``merge_mode=None`` one for each output."""
        own = mask if self.forward_layer.return_sequences else None
        return [own, own] if self.merge_mode is None else own

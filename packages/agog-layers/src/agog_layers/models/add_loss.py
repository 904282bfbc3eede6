"""Add loss: a layer that adds its input to the loss."""

from __future__ import annotations

from typing import Any

from agog_layers.layer.layer import Layer

__all__ = ["AddLoss"]


class AddLoss(Layer):
    """Return the input, and list it in `losses`; `Model.add_loss` makes such layers of symbolic values.

    >>> import agog_core as ag
    >>> layer = AddLoss()
    >>> _ = layer(ag.constant(2.0))
    >>> [float(loss) for loss in layer.losses]
    [2.0]
    """

    def call(self, inputs: Any) -> Any:
        """Return the input."""
        self.add_loss(inputs)
        return inputs

"""Collection: TensorFlow's collection of a graph's losses, which is empty in eager execution."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorLike, zeros
from agog_layers.losses.reduction import COLLECTION

__all__ = ["add_loss", "get_losses", "get_regularization_loss", "get_regularization_losses", "get_total_loss"]


def add_loss(loss: TensorLike, loss_collection: str | None = COLLECTION) -> None:
    """Do nothing: eager execution has no collection of losses.

    >>> add_loss(1.0)
    """


def get_losses(scope: str | None = None, loss_collection: str | None = COLLECTION) -> list[Any]:
    """The losses that were collected.

    Returns:
        An empty list, since eager execution collects none.

    >>> get_losses()
    []
    """
    return []


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses of regularizers that were collected; `Layer.losses` has those of a layer or model.

    Returns:
        An empty list, since eager execution collects none.

    >>> get_regularization_losses()
    []
    """
    return []


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of `get_regularization_losses`; `Layer.losses` has those of a layer or model.

    Returns:
        0, since eager execution collects none.

    >>> print(get_regularization_loss())
    tf.Tensor(0.0, shape=(), dtype=float32)
    """
    return zeros(())


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of the losses that were collected: there are none.

    Returns:
        Nothing: it always raises.

    Raises:
        ValueError: always, since eager execution collects no losses.
    """
    raise ValueError(
        "get_total_loss: eager execution collects no losses; add up what the losses return, and model.losses: "
        "tf.add_n([loss, *model.losses])."
    )

"""Lookup of losses by name, and their short names, as in ``tf.keras.losses``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agog_layers.base.lookup import Lookup
from agog_layers.losses import classification, imbalance, imbalance_losses, loss, regression, sequences

__all__ = [
    *("KLD", "MAE", "MAPE", "MSE", "MSLE", "kld", "mae", "mape", "mse", "msle"),
    *("cosine", "deserialize", "get", "huber_loss", "serialize"),
]

KLD = kld = regression.kullback_leibler_divergence
MAE = mae = regression.mean_absolute_error
MAPE = mape = regression.mean_absolute_percentage_error
MSE = mse = regression.mean_squared_error
MSLE = msle = regression.mean_squared_logarithmic_error
cosine = regression.cosine_proximity
huber_loss = regression.huber

_MODULES = (classification, imbalance, regression, sequences)
by_name: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(module, name)
        for module in (classification, imbalance, regression, sequences)
        for name in module.__all__
    },
    **{"KLD": KLD, "MAE": MAE, "MAPE": MAPE, "MSE": MSE, "MSLE": MSLE, "cosine": cosine, "huber_loss": huber_loss},
    **{"kld": KLD, "mae": MAE, "mape": MAPE, "mse": MSE, "msle": MSLE},
}

_classes = [getattr(module, name) for module in (loss, imbalance_losses) for name in module.__all__]
_losses = Lookup("loss", by_name, tuple(cls for cls in _classes if cls.__name__ not in loss.BASES))


def get(identifier: Any) -> Any:
    """The loss that an argument stands for.

    Args:
        identifier: a name, a function or a `Loss`, what `serialize` returned, or None.

    Returns:
        A function of labels and predictions; None for None.

    Raises:
        ValueError: the name is unknown.
        TypeError: the argument is none of these.

    >>> print(get("mse")([[0.0, 1.0]], [[2.0, 1.0]]))
    tf.Tensor([2.], shape=(1,), dtype=float32)
    """
    return _losses.get(identifier)


def serialize(loss: Any) -> Any:
    """Describe a loss by data.

    Args:
        loss: a function, or an object with `get_config`.

    Returns:
        The function's name; of objects a dict with ``class_name`` and ``config``.

    Raises:
        ValueError: it is neither.

    >>> serialize(mse)
    'mean_squared_error'
    """
    return _losses.serialize(loss)


def deserialize(name: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The loss that `serialize` described.

    Args:
        name: what `serialize` returned.
        custom_objects: names to functions and classes of the program.

    Returns:
        A function of labels and predictions, or a new `Loss`.

    Raises:
        ValueError: the name is unknown.

    >>> deserialize({"class_name": "Huber", "config": {"delta": 2.0}}).delta
    2.0
    """
    return _losses.deserialize(name, custom_objects)

"""Lookup of losses by name, and their short names, as in ``tf.keras.losses``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_layers.losses import classification, imbalance, imbalance_losses, loss, regression, sequences
from agog_layers.serialization.lookup import Lookup

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
LOSSES = Lookup(
    "loss",
    by_name,
    classes={cls.__name__: cls for cls in _classes if cls.__name__ not in loss.BASES},
    describes_own=True,
)
get, serialize, deserialize = LOSSES.get, LOSSES.serialize, LOSSES.deserialize

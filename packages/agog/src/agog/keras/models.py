"""``tf.keras.models``: models, and how they are made from their descriptions."""

from agog_compat.advice import taught as _taught
from agog_layers import Input
from agog_training import (
    Model,
    Sequential,
    clone_model,
    load_model,
    model_from_config,
    model_from_json,
    save_model,
)

__all__ = [
    *("Input", "Model", "Sequential", "clone_model", "load_model", "model_from_config", "model_from_json"),
    "save_model",
]

__getattr__ = _taught(__name__)

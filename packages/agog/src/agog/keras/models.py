"""``tf.keras.models``: models, and how they are made from their descriptions."""

from agog_compat.advice import taught as _taught
from agog_layers import Input, model_from_config, model_from_json
from agog_training import Model, Sequential

__all__ = ["Input", "Model", "Sequential", "model_from_config", "model_from_json"]

__getattr__ = _taught(__name__)

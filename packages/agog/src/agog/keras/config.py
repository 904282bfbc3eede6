"""``tf.keras.config``: settings, most of which are as they are."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.settings import (
    backend,
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from agog_layers.base.policy import global_policy as dtype_policy
from agog_layers.base.policy import set_global_policy as set_dtype_policy

__all__ = [
    "backend",
    "dtype_policy",
    "epsilon",
    "floatx",
    "image_data_format",
    "set_dtype_policy",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]

__getattr__ = _taught(__name__)

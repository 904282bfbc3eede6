"""``tf.keras.utils``: what programs use beside models."""

from agog_compat.advice import taught as _taught
from agog_layers import custom_object_scope
from agog_layers.base.configured import custom_object_scope as CustomObjectScope
from agog_training import Sequence

__all__ = ["CustomObjectScope", "Sequence", "custom_object_scope"]

__getattr__ = _taught(__name__)

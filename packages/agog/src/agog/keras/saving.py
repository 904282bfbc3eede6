"""``tf.keras.saving``: models in files, and the classes and functions of programs that these name."""

from agog_compat.advice import taught as _taught
from agog_layers.base.configured import describe as serialize_keras_object
from agog_layers.base.configured import revive as deserialize_keras_object
from agog_layers.base.custom_objects import (
    custom_object_scope,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
)
from agog_layers.base.custom_objects import custom_object_scope as CustomObjectScope
from agog_training import load_model, save_model

__all__ = [
    "CustomObjectScope",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_registered_name",
    "get_registered_object",
    "load_model",
    "register_keras_serializable",
    "save_model",
    "serialize_keras_object",
]

__getattr__ = _taught(__name__)

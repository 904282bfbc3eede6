"""``tf.keras.saving``: models in files, and the classes and functions of programs that these name."""

from agog_compat.advice import face as _face
from agog_layers.serialization.custom_objects import custom_object_scope as CustomObjectScope
from agog_layers.serialization.custom_objects import custom_object_scope as custom_object_scope
from agog_layers.serialization.custom_objects import get_registered_name as get_registered_name
from agog_layers.serialization.custom_objects import get_registered_object as get_registered_object
from agog_layers.serialization.custom_objects import register_keras_serializable as register_keras_serializable
from agog_layers.serialization.description import describe as serialize_keras_object
from agog_layers.serialization.description import deserialize_keras_object as deserialize_keras_object
from agog_training import load_model as load_model
from agog_training import save_model as save_model

_face(globals())

"""``tf.keras.utils``: what programs use beside models."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.backend import is_keras_tensor
from agog_compat.newer.settings import clear_session
from agog_layers import custom_object_scope
from agog_layers.base.configured import custom_object_scope as CustomObjectScope
from agog_layers.base.configured import describe as serialize_keras_object
from agog_layers.base.configured import get_custom_objects
from agog_layers.base.configured import revive as deserialize_keras_object
from agog_training import Sequence
from agog_training.preparing.fetching import get_file
from agog_training.preparing.labels import normalize, to_categorical
from agog_training.preparing.pictures import array_to_img, img_to_array, load_img
from agog_training.preparing.plotting import model_to_dot, plot_model
from agog_training.preparing.seeds import set_random_seed
from agog_training.preparing.sequences import pad_sequences
from agog_training.progress_bar import Progbar
from agog_training.sequence import Sequence as PyDataset

__all__ = [
    "CustomObjectScope",
    "Progbar",
    "PyDataset",
    "Sequence",
    "array_to_img",
    "clear_session",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "get_file",
    "img_to_array",
    "is_keras_tensor",
    "load_img",
    "model_to_dot",
    "normalize",
    "pad_sequences",
    "plot_model",
    "serialize_keras_object",
    "set_random_seed",
    "to_categorical",
]

__getattr__ = _taught(__name__)

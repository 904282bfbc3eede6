"""``tf.keras.utils``: what programs use beside models."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_core.exports import Some as _Some
from agog_core.exports import later as _later
from agog_keras.backend.tensors import is_keras_tensor as is_keras_tensor
from agog_keras.plotting import *
from agog_keras.preprocessing.images import *
from agog_keras.preprocessing.labels import *
from agog_keras.preprocessing.sequences import pad_sequences as pad_sequences
from agog_keras.progress_bar import Progbar as Progbar
from agog_keras.seeds import set_random_seed as set_random_seed
from agog_keras.settings import clear_session as clear_session
from agog_layers.serialization.custom_objects import *
from agog_layers.serialization.custom_objects import custom_object_scope as CustomObjectScope
from agog_layers.serialization.description import describe as serialize_keras_object
from agog_layers.serialization.description import deserialize_keras_object as deserialize_keras_object
from agog_training import Sequence as Sequence
from agog_training.sequence import Sequence as PyDataset

if TYPE_CHECKING:
    from agog_data.datasets.fetching import get_file as get_file
    from agog_keras.enqueuers import GeneratorEnqueuer as GeneratorEnqueuer
    from agog_keras.enqueuers import OrderedEnqueuer as OrderedEnqueuer
    from agog_keras.enqueuers import SequenceEnqueuer as SequenceEnqueuer
    from agog_keras.preprocessing.directories import image_dataset_from_directory as image_dataset_from_directory
    from agog_keras.preprocessing.directories import text_dataset_from_directory as text_dataset_from_directory
    from agog_keras.preprocessing.windows import timeseries_dataset_from_array as timeseries_dataset_from_array


# Datasets and files are agog_data's, which most programs import later, if at all.
_DIRECTORIES = _Some(
    "agog_keras.preprocessing.directories", "image_dataset_from_directory", "text_dataset_from_directory"
)
_FILES = _Some("agog_data.datasets.fetching", "get_file")
_WINDOWS = _Some("agog_keras.preprocessing.windows", "timeseries_dataset_from_array")
_ENQUEUERS = _Some("agog_keras.enqueuers", "GeneratorEnqueuer", "OrderedEnqueuer", "SequenceEnqueuer")
__getattr__, __dir__ = _later(__name__, rooms=[_DIRECTORIES, _ENQUEUERS, _FILES, _WINDOWS])
__getattr__ = _taught(__name__, __getattr__)

"""``tf.keras.preprocessing``: texts, sequences and pictures on the host, before a model is trained."""

from typing import TYPE_CHECKING

from agog.keras.preprocessing import image, sequence, text
from agog_compat.advice import taught as _taught
from agog_core.exports import Some as _Some
from agog_core.exports import later as _later

if TYPE_CHECKING:
    from agog_keras.preprocessing.directories import image_dataset_from_directory as image_dataset_from_directory
    from agog_keras.preprocessing.directories import text_dataset_from_directory as text_dataset_from_directory
    from agog_keras.preprocessing.windows import timeseries_dataset_from_array as timeseries_dataset_from_array

__all__ = [
    "image",
    "image_dataset_from_directory",
    "sequence",
    "text",
    "text_dataset_from_directory",
    "timeseries_dataset_from_array",
]

# Datasets are agog_data's, which most programs import later, if at all.
_DIRECTORIES = _Some(
    "agog_keras.preprocessing.directories", "image_dataset_from_directory", "text_dataset_from_directory"
)
_WINDOWS = _Some("agog_keras.preprocessing.windows", "timeseries_dataset_from_array")
__getattr__, _ = _later(__name__, rooms=[_DIRECTORIES, _WINDOWS])
__getattr__ = _taught(__name__, __getattr__)
__dir__ = __all__.copy

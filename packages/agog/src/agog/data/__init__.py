"""``tf.data``: datasets and iterators; ``datasets`` reads well-known ones, ``readers`` formats of files.

``experimental`` has transformations for ``dataset.apply(...)``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agog_data import Dataset, Iterator

if TYPE_CHECKING:
    from agog.data import experimental
    from agog_data import datasets, readers
    from agog_data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset

__all__ = [
    "Dataset",
    "FixedLengthRecordDataset",
    "Iterator",
    "TFRecordDataset",
    "TextLineDataset",
    "datasets",
    "experimental",
    "readers",
]

# Most programs do without: these modules are imported when they are asked for.
_LATER = {"datasets": "agog_data.datasets", "experimental": "agog.data.experimental", "readers": "agog_data.readers"}

_CLASSES = {
    "FixedLengthRecordDataset": "agog_data.readers.fixed_length",
    "TFRecordDataset": "agog_data.readers.tfrecord",
    "TextLineDataset": "agog_data.readers.text",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module(_LATER[name])
    if name in _CLASSES:
        return getattr(import_module(_CLASSES[name]), name)
    raise AttributeError(f"module 'agog.data' has no attribute {name!r}")

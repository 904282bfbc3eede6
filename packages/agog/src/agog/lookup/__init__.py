"""``tf.lookup``: values by keys."""

from agog.lookup import experimental
from agog_compat.advice import taught as _taught
from agog_compat.newer.tables import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
    "experimental",
]

__getattr__ = _taught(__name__)

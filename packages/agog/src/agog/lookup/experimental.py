"""``tf.lookup.experimental``: values by keys, which can be added and removed."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.tables import DenseHashTable, MutableHashTable

__all__ = ["DenseHashTable", "MutableHashTable"]

__getattr__ = _taught(__name__)

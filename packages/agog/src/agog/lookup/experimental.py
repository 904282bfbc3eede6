"""``tf.lookup.experimental``: values by keys, which can be added and removed."""

from agog_compat.advice import taught as _taught
from agog_compat.tf2.tables import DenseHashTable as DenseHashTable
from agog_compat.tf2.tables import MutableHashTable as MutableHashTable
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)

"""``tf.lookup.experimental``: values by keys, which can be added and removed."""

from agog_compat.advice import taught as _taught
from agog_compat.lookup.experimental_tables import *
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)

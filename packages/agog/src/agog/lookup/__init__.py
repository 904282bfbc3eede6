"""``tf.lookup``: values by keys."""

from agog.lookup import experimental as experimental
from agog_compat.advice import taught as _taught
from agog_compat.lookup.static_tables import *
from agog_core.exports import export as _export

_export(globals(), "experimental")

__getattr__ = _taught(__name__)

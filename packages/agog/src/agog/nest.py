"""``tf.nest``: nested tuples, lists and dicts of values."""

from agog_compat.advice import taught as _taught
from agog_compat.nest.structures import *
from agog_core.exports import export as _export
from agog_core.nest import flatten as flatten
from agog_core.nest import is_nested as is_nested

_export(globals())

__getattr__ = _taught(__name__)

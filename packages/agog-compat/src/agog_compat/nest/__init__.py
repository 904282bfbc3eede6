"""Nest: ``tf.nest`` and ``tf.contrib.framework.nest``, functions of nested structures."""

from agog_compat.nest.shallow_structures import *
from agog_compat.nest.structures import *
from agog_core.exports import export as _export

_export(globals())

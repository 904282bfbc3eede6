"""Linear: layers that multiply by matrices or look up their rows."""

from agog_core.exports import export as _export
from agog_layers.linear.dense import *
from agog_layers.linear.einsum_dense import *
from agog_layers.linear.embedding import *

_export(globals())

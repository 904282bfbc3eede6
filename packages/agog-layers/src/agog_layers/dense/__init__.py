"""Dense: layers that multiply by matrices or look up their rows."""

from agog_core.exports import export as _export
from agog_layers.dense.dense import *
from agog_layers.dense.einsum_dense import *
from agog_layers.dense.embedding import *

_export(globals())

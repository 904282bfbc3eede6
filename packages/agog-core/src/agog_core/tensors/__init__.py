"""Tensors: values on devices, conversions and copies."""

from agog_core.exports import export as _export
from agog_core.tensors.constant import *
from agog_core.tensors.convert import *
from agog_core.tensors.indexed_slices import *
from agog_core.tensors.sparse_tensor import *
from agog_core.tensors.tensor import *

_export(globals())

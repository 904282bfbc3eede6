"""``tf.sparse``: tensors of which few elements are given."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_core.ops.indexing.sparse import sparse_reduce_sum as reduce_sum
from agog_core.ops.indexing.sparse import sparse_tensor_to_dense as to_dense
from agog_core.tensors.sparse_tensor import SparseTensor as SparseTensor
from agog_core.tensors.sparse_tensor import SparseTensorValue as SparseTensorValue

_export(globals())

__getattr__ = _taught(__name__)

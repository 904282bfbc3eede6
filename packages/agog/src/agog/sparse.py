"""``tf.sparse``: tensors of which few elements are given."""

from agog_compat.advice import face as _face
from agog_core.ops.indexing.sparse import sparse_reduce_sum as reduce_sum
from agog_core.ops.indexing.sparse import sparse_tensor_to_dense as to_dense
from agog_core.tensors.sparse_tensor import SparseTensor as SparseTensor
from agog_core.tensors.sparse_tensor import SparseTensorValue as SparseTensorValue

_face(globals())

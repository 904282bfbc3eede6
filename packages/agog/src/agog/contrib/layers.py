"""``tf.contrib.layers``: lookups, initial values and regularizers."""

from agog_compat.advice import taught as _taught
from agog_core.ops.indexing.embedding import safe_embedding_lookup_sparse
from agog_layers.weights.regularizers import l1_l2_regularizer, l1_regularizer, l2_regularizer, sum_regularizer
from agog_layers.weights.scaling import contrib_variance_scaling as variance_scaling_initializer
from agog_layers.weights.scaling import contrib_xavier as xavier_initializer

__all__ = [
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2_regularizer",
    "safe_embedding_lookup_sparse",
    "sum_regularizer",
    "variance_scaling_initializer",
    "xavier_initializer",
]

__getattr__ = _taught(__name__)

"""``tf.contrib.layers``: lookups, initial values and regularizers."""

from agog_compat.advice import face as _face
from agog_core.ops.indexing.embedding import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from agog_layers.weights.regularizers import l1_l2_regularizer as l1_l2_regularizer
from agog_layers.weights.regularizers import l1_regularizer as l1_regularizer
from agog_layers.weights.regularizers import l2_regularizer as l2_regularizer
from agog_layers.weights.regularizers import sum_regularizer as sum_regularizer
from agog_layers.weights.variance_scaling import contrib_variance_scaling as variance_scaling_initializer
from agog_layers.weights.variance_scaling import contrib_xavier as xavier_initializer

_face(globals())

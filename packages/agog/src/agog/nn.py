"""``tf.nn``: activations, softmax and its losses, dropout."""

from agog_core.ops.elementary import sigmoid, tanh
from agog_core.ops.nn import (
    bias_add,
    dropout,
    log_softmax,
    relu,
    softmax,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)

__all__ = [
    "bias_add",
    "dropout",
    "log_softmax",
    "relu",
    "sigmoid",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "sparse_softmax_cross_entropy_with_logits",
    "tanh",
]

"""``tf.manip``: moving the elements of tensors around."""

from agog_compat.advice import taught as _taught
from agog_core import batch_to_space_nd, gather_nd, reshape, reverse, roll, scatter_nd, space_to_batch_nd, tile

__all__ = [
    "batch_to_space_nd",
    "gather_nd",
    "reshape",
    "reverse",
    "roll",
    "scatter_nd",
    "space_to_batch_nd",
    "tile",
]

__getattr__ = _taught(__name__)

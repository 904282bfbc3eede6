"""``tf.config.threading``: numbers of threads."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.devices import (
    get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads,
)

__all__ = [
    "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads",
    "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
]

__getattr__ = _taught(__name__)

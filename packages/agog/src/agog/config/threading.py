"""``tf.config.threading``: numbers of threads."""

from agog_compat.advice import face as _face
from agog_compat.devices import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
from agog_compat.devices import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
from agog_compat.devices import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
from agog_compat.devices import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads

_face(globals())

"""``tf.summary.experimental``: the step of summaries that are told none."""

from agog_compat.advice import face as _face
from agog_summary.tf2 import get_step as get_step
from agog_summary.tf2 import set_step as set_step

_face(globals())

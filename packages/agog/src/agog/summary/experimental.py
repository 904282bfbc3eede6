"""``tf.summary.experimental``: the step of summaries that are told none."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_summary.tf2 import get_step as get_step
from agog_summary.tf2 import set_step as set_step

_export(globals())

__getattr__ = _taught(__name__)

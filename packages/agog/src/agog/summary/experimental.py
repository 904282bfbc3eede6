"""``tf.summary.experimental``: the step of summaries that are told none."""

from agog_compat.advice import taught as _taught
from agog_summary.newer import get_step, set_step

__all__ = ["get_step", "set_step"]

__getattr__ = _taught(__name__)

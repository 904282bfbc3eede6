"""``tf.summary.experimental``: the step of summaries that are told none."""

from agog_summary.newer import get_step, set_step

__all__ = ["get_step", "set_step"]

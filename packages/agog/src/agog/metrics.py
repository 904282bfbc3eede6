"""``tf.metrics``: what works in graphs only; ``tfe.metrics`` has metrics for eager execution."""

from agog_compat.advice import taught as _taught
from agog_compat.graph_only import Refused as _Refused
from agog_core.exports import later as _later

__getattr__, __dir__ = _later(__name__, rooms=[_Refused("tf.metrics")])
__getattr__ = _taught(__name__, __getattr__)

"""``tf.contrib.summary``: what TensorBoard shows of a run."""

from agog_compat.advice import taught as _taught
from agog_compat.graph_only import Refused as _Refused
from agog_core.exports import later as _later
from agog_summary import *

__getattr__, __dir__ = _later(__name__, rooms=[_Refused("tf.contrib.summary")])
__getattr__ = _taught(__name__, __getattr__)

"""Nn: the functions of ``tf.nn`` without a room of their own."""

from agog_core.exports import export as _export
from agog_core.ops.math.elementary import log_sigmoid as log_sigmoid
from agog_core.ops.math.elementary import sigmoid as sigmoid
from agog_core.ops.math.elementary import softplus as softplus
from agog_core.ops.math.elementary import tanh as tanh
from agog_core.ops.nn.activations import *
from agog_core.ops.nn.candidates import *
from agog_core.ops.nn.ctc import *
from agog_core.ops.nn.ctc_decoding import *
from agog_core.ops.nn.dropout import *
from agog_core.ops.nn.gelu import *
from agog_core.ops.nn.losses import *
from agog_core.ops.nn.normalization import *
from agog_core.ops.nn.softmax import *
from agog_core.ops.nn.weighted_candidates import *

_export(globals())

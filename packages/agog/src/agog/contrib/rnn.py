"""``tf.contrib.rnn``: the cells of ``tf.nn.rnn_cell``, and the functions that run cells over lists."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_layers.recurrent.recurrence import static_bidirectional_rnn as static_bidirectional_rnn
from agog_layers.recurrent.recurrence import static_rnn as static_rnn
from agog_layers.recurrent.rnn_cell import *

_export(globals())

__getattr__ = _taught(__name__)

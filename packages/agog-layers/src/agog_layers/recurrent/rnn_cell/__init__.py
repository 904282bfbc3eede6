"""RNN cells of ``tf.nn.rnn_cell``, with a tensor or a tuple as state, and wrappers.

Their kernels take the inputs and the state side by side.
"""

from agog_core.exports import export as _export
from agog_layers.recurrent.rnn_cell.basic import *
from agog_layers.recurrent.rnn_cell.cell import *
from agog_layers.recurrent.rnn_cell.lstm import *
from agog_layers.recurrent.rnn_cell.wrappers import *

_export(globals())

"""Recurrent: cells, and layers over the steps of sequences.

The functions of ``tf.nn`` that do are in `recurrence` and `raw_rnn`, and their cells in `rnn_cell`.
"""

from agog_core.exports import export as _export
from agog_layers.recurrent.bidirectional import *
from agog_layers.recurrent.conv_lstm import *
from agog_layers.recurrent.cudnn import *
from agog_layers.recurrent.gru import *
from agog_layers.recurrent.lstm import *
from agog_layers.recurrent.rnn import *
from agog_layers.recurrent.simple_rnn import *
from agog_layers.recurrent.stacked_cells import *
from agog_layers.recurrent.time_distributed import *

_export(globals())

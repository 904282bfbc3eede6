"""``tf.contrib.rnn``: the cells of ``tf.nn.rnn_cell``, and the functions that run cells over lists."""

from agog_compat.advice import face as _face
from agog_layers.recurrent.recurrence import static_bidirectional_rnn as static_bidirectional_rnn
from agog_layers.recurrent.recurrence import static_rnn as static_rnn
from agog_layers.recurrent.rnn_cell import *

_face(globals())

"""``tf.keras.activations``: activation functions, and how they are named."""

from agog_compat.advice import face as _face
from agog_core.ops.math.elementary import exp as exponential
from agog_core.ops.math.elementary import sigmoid as sigmoid
from agog_core.ops.math.elementary import softplus as softplus
from agog_core.ops.math.elementary import tanh as tanh
from agog_core.ops.nn import leaky_relu as leaky_relu
from agog_core.ops.nn import log_softmax as log_softmax
from agog_core.ops.nn import relu as relu
from agog_core.ops.nn import relu6 as relu6
from agog_core.ops.nn import selu as selu
from agog_core.ops.nn import softmax as softmax
from agog_core.ops.nn import softsign as softsign
from agog_core.ops.nn import swish as silu
from agog_core.ops.nn import swish as swish
from agog_layers.activations.lookup import deserialize as deserialize
from agog_layers.activations.lookup import get as get
from agog_layers.activations.lookup import serialize as serialize
from agog_layers.activations.piecewise import hard_shrink as hard_shrink
from agog_layers.activations.piecewise import hard_sigmoid as hard_sigmoid
from agog_layers.activations.piecewise import hard_silu as hard_silu
from agog_layers.activations.piecewise import hard_silu as hard_swish
from agog_layers.activations.piecewise import hard_tanh as hard_tanh
from agog_layers.activations.piecewise import linear as linear
from agog_layers.activations.piecewise import soft_shrink as soft_shrink
from agog_layers.activations.piecewise import sparse_plus as sparse_plus
from agog_layers.activations.piecewise import sparse_sigmoid as sparse_sigmoid
from agog_layers.activations.piecewise import threshold as threshold
from agog_layers.activations.smooth import *

_face(globals())

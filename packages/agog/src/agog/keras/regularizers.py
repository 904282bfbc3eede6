"""``tf.keras.regularizers``: what weights or outputs add to the loss."""

from agog_compat.advice import face as _face
from agog_layers.weights.regularizers import L1L2 as L1L2
from agog_layers.weights.regularizers import OrthogonalRegularizer as OrthogonalRegularizer
from agog_layers.weights.regularizers import OrthogonalRegularizer as orthogonal_regularizer
from agog_layers.weights.regularizers import Regularizer as Regularizer
from agog_layers.weights.regularizers import deserialize as deserialize
from agog_layers.weights.regularizers import get as get
from agog_layers.weights.regularizers import l1 as L1
from agog_layers.weights.regularizers import l1 as l1
from agog_layers.weights.regularizers import l1_l2 as l1_l2
from agog_layers.weights.regularizers import l2 as L2
from agog_layers.weights.regularizers import l2 as l2
from agog_layers.weights.regularizers import serialize as serialize

_face(globals())

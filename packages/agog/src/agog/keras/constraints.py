"""``tf.keras.constraints``: functions that optimizers apply to weights after each update."""

from agog_compat.advice import face as _face
from agog_layers.weights.constraints import Constraint as Constraint
from agog_layers.weights.constraints import MaxNorm as MaxNorm
from agog_layers.weights.constraints import MinMaxNorm as MinMaxNorm
from agog_layers.weights.constraints import NonNeg as NonNeg
from agog_layers.weights.constraints import UnitNorm as UnitNorm
from agog_layers.weights.constraints import deserialize as deserialize
from agog_layers.weights.constraints import get as get
from agog_layers.weights.constraints import max_norm as max_norm
from agog_layers.weights.constraints import min_max_norm as min_max_norm
from agog_layers.weights.constraints import non_neg as non_neg
from agog_layers.weights.constraints import serialize as serialize
from agog_layers.weights.constraints import unit_norm as unit_norm

# The names that Keras 1 had.
maxnorm, nonneg, unitnorm = max_norm, non_neg, unit_norm

_face(globals())

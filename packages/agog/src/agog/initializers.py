"""``tf.initializers``: initial values of weights, with the defaults that they have outside of Keras."""

from agog_compat.advice import face as _face
from agog_layers.weights.initializers import Constant as constant
from agog_layers.weights.initializers import Identity as identity
from agog_layers.weights.initializers import Ones as ones
from agog_layers.weights.initializers import Orthogonal as orthogonal
from agog_layers.weights.initializers import UniformUnitScaling as uniform_unit_scaling
from agog_layers.weights.initializers import VarianceScaling as variance_scaling
from agog_layers.weights.initializers import Zeros as zeros
from agog_layers.weights.initializers import glorot_normal as glorot_normal
from agog_layers.weights.initializers import glorot_uniform as glorot_uniform
from agog_layers.weights.initializers import he_normal as he_normal
from agog_layers.weights.initializers import he_uniform as he_uniform
from agog_layers.weights.initializers import lecun_normal as lecun_normal
from agog_layers.weights.initializers import lecun_uniform as lecun_uniform
from agog_layers.weights.initializers import random_normal_initializer as random_normal
from agog_layers.weights.initializers import random_uniform_initializer as random_uniform
from agog_layers.weights.initializers import truncated_normal_initializer as truncated_normal

_face(globals())

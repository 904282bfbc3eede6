"""``tf.keras.initializers``: initial values of weights."""

from agog_compat.advice import taught as _taught
from agog_layers.weights.initializers import (
    Constant,
    Identity,
    Initializer,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
    deserialize,
    get,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
    serialize,
)
from agog_layers.weights.initializers import Constant as constant
from agog_layers.weights.initializers import Identity as IdentityInitializer
from agog_layers.weights.initializers import Identity as identity
from agog_layers.weights.initializers import Ones as ones
from agog_layers.weights.initializers import Orthogonal as OrthogonalInitializer
from agog_layers.weights.initializers import Orthogonal as orthogonal
from agog_layers.weights.initializers import RandomNormal as normal
from agog_layers.weights.initializers import RandomNormal as random_normal
from agog_layers.weights.initializers import RandomUniform as random_uniform
from agog_layers.weights.initializers import RandomUniform as uniform
from agog_layers.weights.initializers import TruncatedNormal as truncated_normal
from agog_layers.weights.initializers import VarianceScaling as variance_scaling
from agog_layers.weights.initializers import Zeros as zeros
from agog_layers.weights.initializers import glorot_normal as GlorotNormal
from agog_layers.weights.initializers import glorot_uniform as GlorotUniform
from agog_layers.weights.initializers import he_normal as HeNormal
from agog_layers.weights.initializers import he_uniform as HeUniform
from agog_layers.weights.initializers import lecun_normal as LecunNormal
from agog_layers.weights.initializers import lecun_uniform as LecunUniform

__all__ = [
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "HeNormal",
    "HeUniform",
    "Identity",
    "IdentityInitializer",
    "Initializer",
    "LecunNormal",
    "LecunUniform",
    "Ones",
    "Orthogonal",
    "OrthogonalInitializer",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "constant",
    "deserialize",
    "get",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "serialize",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "zeros",
]

__getattr__ = _taught(__name__)

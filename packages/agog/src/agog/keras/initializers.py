"""``tf.keras.initializers``: initial values of weights."""

from agog_compat.advice import face as _face
from agog_layers.weights.initializers import Constant as Constant
from agog_layers.weights.initializers import Constant as constant
from agog_layers.weights.initializers import Identity as Identity
from agog_layers.weights.initializers import Identity as IdentityInitializer
from agog_layers.weights.initializers import Identity as identity
from agog_layers.weights.initializers import Initializer as Initializer
from agog_layers.weights.initializers import Ones as Ones
from agog_layers.weights.initializers import Ones as ones
from agog_layers.weights.initializers import Orthogonal as Orthogonal
from agog_layers.weights.initializers import Orthogonal as OrthogonalInitializer
from agog_layers.weights.initializers import Orthogonal as orthogonal
from agog_layers.weights.initializers import RandomNormal as RandomNormal
from agog_layers.weights.initializers import RandomNormal as normal
from agog_layers.weights.initializers import RandomNormal as random_normal
from agog_layers.weights.initializers import RandomUniform as RandomUniform
from agog_layers.weights.initializers import RandomUniform as random_uniform
from agog_layers.weights.initializers import RandomUniform as uniform
from agog_layers.weights.initializers import TruncatedNormal as TruncatedNormal
from agog_layers.weights.initializers import TruncatedNormal as truncated_normal
from agog_layers.weights.initializers import VarianceScaling as VarianceScaling
from agog_layers.weights.initializers import VarianceScaling as variance_scaling
from agog_layers.weights.initializers import Zeros as Zeros
from agog_layers.weights.initializers import Zeros as zeros
from agog_layers.weights.initializers import deserialize as deserialize
from agog_layers.weights.initializers import get as get
from agog_layers.weights.initializers import glorot_normal as GlorotNormal
from agog_layers.weights.initializers import glorot_normal as glorot_normal
from agog_layers.weights.initializers import glorot_uniform as GlorotUniform
from agog_layers.weights.initializers import glorot_uniform as glorot_uniform
from agog_layers.weights.initializers import he_normal as HeNormal
from agog_layers.weights.initializers import he_normal as he_normal
from agog_layers.weights.initializers import he_uniform as HeUniform
from agog_layers.weights.initializers import he_uniform as he_uniform
from agog_layers.weights.initializers import lecun_normal as LecunNormal
from agog_layers.weights.initializers import lecun_normal as lecun_normal
from agog_layers.weights.initializers import lecun_uniform as LecunUniform
from agog_layers.weights.initializers import lecun_uniform as lecun_uniform
from agog_layers.weights.initializers import serialize as serialize

_face(globals())

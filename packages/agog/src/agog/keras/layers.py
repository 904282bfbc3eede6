"""``tf.keras.layers``: layers as classes."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_core.exports import Some as _Some
from agog_core.exports import later as _later
from agog_keras.layers import *
from agog_layers import ActivityRegularization as ActivityRegularization
from agog_layers import Dense as Dense
from agog_layers import Dropout as Dropout
from agog_layers import EinsumDense as EinsumDense
from agog_layers import Embedding as Embedding
from agog_layers import Flatten as Flatten
from agog_layers import InputSpec as InputSpec
from agog_layers import Layer as Layer
from agog_layers import Masking as Masking
from agog_layers.attention import *
from agog_layers.convolution import *
from agog_layers.elementwise.activation import *
from agog_layers.elementwise.rectifiers import *
from agog_layers.layer.lookup import deserialize as deserialize
from agog_layers.layer.lookup import serialize as serialize
from agog_layers.merging import *
from agog_layers.merging.functions import *
from agog_layers.models.input import *
from agog_layers.normalization import *
from agog_layers.recurrent import *
from agog_layers.regularization.noise import *
from agog_layers.reshaping.reshaping import *

if TYPE_CHECKING:
    from agog_keras.feature_columns import DenseFeatures as DenseFeatures
    from agog_keras.layers.hashed_crossing import HashedCrossing as HashedCrossing


_COLUMNS = _Some("agog_keras.feature_columns", "DenseFeatures")
_CROSSING = _Some("agog_keras.layers.hashed_crossing", "HashedCrossing")
__getattr__, __dir__ = _later(__name__, rooms=[_COLUMNS, _CROSSING])
__getattr__ = _taught(__name__, __getattr__)

"""agog-layers: layers, networks and models, with initializers, losses and metrics.

>>> import agog_core as ag
>>> from agog_layers import Dense, Sequential
>>> model = Sequential([Dense(32, activation=ag.nn.relu), Dense(10)])
>>> model(ag.zeros([8, 784])).shape
TensorShape([8, 10])
"""

from agog_core.exports import export as _export
from agog_layers import activations as activations
from agog_layers import losses as losses
from agog_layers import metrics as metrics
from agog_layers.attention import *
from agog_layers.convolution import *
from agog_layers.elementwise import *
from agog_layers.layer import *
from agog_layers.linear import *
from agog_layers.merging import *
from agog_layers.models import *
from agog_layers.models import network as network
from agog_layers.naming import *
from agog_layers.normalization import *
from agog_layers.recurrent import *
from agog_layers.regularization import *
from agog_layers.reshaping import *
from agog_layers.serialization import *
from agog_layers.tf_layers import *
from agog_layers.weights import constraints as constraints
from agog_layers.weights import initializers as initializers
from agog_layers.weights import regularizers as regularizers

__version__ = "0.1.0"

_export(globals(), "activations", "constraints", "initializers", "losses", "metrics", "network", "regularizers")

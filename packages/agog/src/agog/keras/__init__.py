"""``tf.keras``: models, and the namespaces of their parts."""

from agog.keras import activations as activations
from agog.keras import applications as applications
from agog.keras import backend as backend
from agog.keras import callbacks as callbacks
from agog.keras import config as config
from agog.keras import constraints as constraints
from agog.keras import datasets as datasets
from agog.keras import initializers as initializers
from agog.keras import layers as layers
from agog.keras import losses as losses
from agog.keras import metrics as metrics
from agog.keras import mixed_precision as mixed_precision
from agog.keras import models as models
from agog.keras import ops as ops
from agog.keras import optimizers as optimizers
from agog.keras import preprocessing as preprocessing
from agog.keras import random as random
from agog.keras import regularizers as regularizers
from agog.keras import saving as saving
from agog.keras import utils as utils
from agog.keras import wrappers as wrappers
from agog_compat.advice import taught as _taught
from agog_compat.habits import OF_LAYERS as _OF_LAYERS
from agog_compat.habits import OF_MODELS as _OF_MODELS
from agog_compat.habits import teach as _teach
from agog_core.exports import export as _export
from agog_core.variables.name_scope import name_scope as name_scope
from agog_core.variables.variable import Variable as Variable
from agog_layers import Input as Input
from agog_layers import Layer as Layer
from agog_layers.layer.policy import Policy as DTypePolicy
from agog_layers.losses.loss import Loss as Loss
from agog_layers.metrics.keras.metric import Metric as Metric
from agog_layers.weights.initializers import Initializer as Initializer
from agog_layers.weights.regularizers import Regularizer as Regularizer
from agog_training import Model as Model
from agog_training import Sequential as Sequential
from agog_training.optimizers import KerasOptimizer as Optimizer

__version__ = "2.1.6-tf"  # TensorFlow 1.12's

_export(
    globals(),
    "activations",
    "applications",
    "backend",
    "callbacks",
    "config",
    "constraints",
    "datasets",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "mixed_precision",
    "models",
    "ops",
    "optimizers",
    "preprocessing",
    "random",
    "regularizers",
    "saving",
    "utils",
    "wrappers",
)

_teach(Layer, _OF_LAYERS)
_teach(Model, _OF_MODELS)

__getattr__ = _taught(__name__)

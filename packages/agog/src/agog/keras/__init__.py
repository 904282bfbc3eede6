"""``tf.keras``: models, and the namespaces of their parts."""

from agog.keras import (
    activations,
    backend,
    callbacks,
    config,
    constraints,
    datasets,
    initializers,
    layers,
    losses,
    metrics,
    mixed_precision,
    models,
    ops,
    optimizers,
    preprocessing,
    random,
    regularizers,
    saving,
    utils,
    wrappers,
)
from agog_compat.advice import taught as _taught
from agog_compat.habits import OF_LAYERS as _OF_LAYERS
from agog_compat.habits import OF_MODELS as _OF_MODELS
from agog_compat.habits import teach as _teach
from agog_core.variables.name_scope import name_scope
from agog_core.variables.variable import Variable
from agog_layers import Input, Layer
from agog_layers.base.policy import Policy as DTypePolicy
from agog_layers.losses.loss import Loss
from agog_layers.metrics.updated.metric import Metric
from agog_layers.weights.initializers import Initializer
from agog_layers.weights.regularizers import Regularizer
from agog_training import Model, Sequential
from agog_training.optimizers import KerasOptimizer as Optimizer

__version__ = "2.1.6-tf"  # TensorFlow 1.12's

__all__ = [
    "DTypePolicy",
    "Initializer",
    "Input",
    "Layer",
    "Loss",
    "Metric",
    "Model",
    "Optimizer",
    "Regularizer",
    "Sequential",
    "Variable",
    "activations",
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
    "name_scope",
    "ops",
    "optimizers",
    "preprocessing",
    "random",
    "regularizers",
    "saving",
    "utils",
    "wrappers",
]

_teach(Layer, _OF_LAYERS)
_teach(Model, _OF_MODELS)

__getattr__ = _taught(__name__)

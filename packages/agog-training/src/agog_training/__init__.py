"""agog-training: models with `fit`, `evaluate` and `predict`, and callbacks.

>>> import numpy as np
>>> from agog_layers import Dense
>>> from agog_training import Sequential
>>> model = Sequential([Dense(1, kernel_initializer="zeros")])
>>> model.compile("sgd", "mse")
>>> history = model.fit(np.eye(2), np.ones(2), verbose=0)
>>> history.history
{'loss': [1.0]}
"""

from agog_core.exports import export as _export
from agog_training import callbacks, optimizers
from agog_training.mapping import *
from agog_training.model import *
from agog_training.saving import *
from agog_training.sequence import *
from agog_training.sequential import *

__version__ = "0.1.0"
_export(globals(), "callbacks", "optimizers")

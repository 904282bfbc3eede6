"""agog-keras: Keras's functions over ops: ``tf.keras.ops``, ``tf.keras.random`` and ``tf.keras.backend``.

>>> from agog_keras import ops
>>> ops.reductions.mean([[1.0, 3.0]], axis=1).numpy().tolist()
[2.0]
"""

from agog_keras import backend as backend
from agog_keras import ops as ops
from agog_keras import random as random
from agog_keras import settings as settings

__version__ = "0.1.0"

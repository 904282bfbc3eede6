"""``tf.keras.wrappers.scikit_learn``: models with the methods that scikit-learn calls."""

from agog_compat.advice import face as _face
from agog_keras.estimators import *

_face(globals())

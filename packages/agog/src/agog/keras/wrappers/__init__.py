"""``tf.keras.wrappers``: models as other libraries take them."""

from agog.keras.wrappers import scikit_learn as scikit_learn
from agog_compat.advice import face as _face

_face(globals(), "scikit_learn")

"""``tf.distributions``: samples, densities, moments and divergences of probability distributions."""

from agog_compat.advice import face as _face
from agog_compat.distributions import *

_face(globals())

"""``tf.distributions``: samples, densities, moments and divergences of probability distributions."""

from agog_compat.advice import taught as _taught
from agog_compat.distributions import *
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)

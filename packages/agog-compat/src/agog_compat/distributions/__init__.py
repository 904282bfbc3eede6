"""Distributions: TensorFlow 1's ``tf.distributions``."""

from agog_compat.distributions.discrete import *
from agog_compat.distributions.distribution import *
from agog_compat.distributions.divergences import *
from agog_compat.distributions.normal_like import *
from agog_compat.distributions.positive import *
from agog_core.exports import export as _export

_export(globals())

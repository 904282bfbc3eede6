"""``tf.spectral``: discrete Fourier and cosine transforms."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_core.ops.signal.cosine import *
from agog_core.ops.signal.fourier import *
from agog_core.ops.signal.real_fourier import *

_export(globals())

__getattr__ = _taught(__name__)

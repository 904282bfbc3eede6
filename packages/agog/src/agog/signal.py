"""``tf.signal``: Fourier and cosine transforms, frames, spectrograms and the mel scale."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_core.ops.signal import *

_export(globals())

__getattr__ = _taught(__name__)

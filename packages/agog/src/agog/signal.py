"""``tf.signal``: Fourier and cosine transforms, frames, spectrograms and the mel scale."""

from agog_core.exports import export as _export
from agog_core.ops.signal import *

_export(globals())

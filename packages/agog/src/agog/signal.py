"""``tf.signal``: Fourier and cosine transforms, frames, spectrograms and the mel scale."""

from agog_compat.advice import face as _face
from agog_core.ops.signal import *

_face(globals())

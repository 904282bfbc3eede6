"""``tf.spectral``: discrete Fourier and cosine transforms."""

from agog_compat.advice import face as _face
from agog_core.ops.signal.cosine import *
from agog_core.ops.signal.fourier import *
from agog_core.ops.signal.real_fourier import *

_face(globals())

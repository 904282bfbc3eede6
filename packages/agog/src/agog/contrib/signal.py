"""``tf.contrib.signal``: signals in frames, windows, short-time Fourier transforms and the mel scale."""

from agog_compat.advice import face as _face
from agog_core.ops.signal.framing import *
from agog_core.ops.signal.mel import *
from agog_core.ops.signal.spectrogram import *

_face(globals())

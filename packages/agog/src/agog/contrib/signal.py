"""``tf.contrib.signal``: signals in frames, windows, short-time Fourier transforms and the mel scale."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_core.ops.signal.framing import *
from agog_core.ops.signal.mel import *
from agog_core.ops.signal.spectrogram import *

_export(globals())

__getattr__ = _taught(__name__)

"""``tf.keras.preprocessing.sequence``: sequences of one length."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_training.preparing.sequences import _remove_long_seq as _remove_long_seq
from agog_training.preparing.sequences import pad_sequences as pad_sequences
from agog_training.preparing.time_series import TimeseriesGenerator as TimeseriesGenerator
from agog_training.preparing.word_pairs import *

_export(globals())

__getattr__ = _taught(__name__)

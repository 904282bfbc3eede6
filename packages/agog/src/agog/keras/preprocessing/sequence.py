"""``tf.keras.preprocessing.sequence``: sequences of one length."""

from agog_compat.advice import face as _face
from agog_keras.preprocessing.sequences import _remove_long_seq as _remove_long_seq
from agog_keras.preprocessing.sequences import pad_sequences as pad_sequences
from agog_keras.preprocessing.skip_grams import *
from agog_keras.preprocessing.time_series import TimeseriesGenerator as TimeseriesGenerator

_face(globals())

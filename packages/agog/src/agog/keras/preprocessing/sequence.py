"""``tf.keras.preprocessing.sequence``: sequences of one length."""

from agog_compat.advice import taught as _taught
from agog_training.preparing.sequences import pad_sequences
from agog_training.preparing.time_series import TimeseriesGenerator
from agog_training.preparing.word_pairs import make_sampling_table, skipgrams

__all__ = ["TimeseriesGenerator", "make_sampling_table", "pad_sequences", "skipgrams"]

__getattr__ = _taught(__name__)

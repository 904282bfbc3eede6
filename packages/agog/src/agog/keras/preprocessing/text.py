"""``tf.keras.preprocessing.text``: texts as numbers of words."""

from agog_compat.advice import taught as _taught
from agog_training.preparing.words import Tokenizer, hashing_trick, one_hot, text_to_word_sequence, tokenizer_from_json

__all__ = ["Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json"]

__getattr__ = _taught(__name__)

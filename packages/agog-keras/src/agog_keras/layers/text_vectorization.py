"""Text vectorization: a layer from texts to numbers of words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from agog_core import Tensor, TensorShape, constant, convert_to_tensor, reshape
from agog_core.tensors.convert import at_each_run
from agog_keras.layers.encoding import MODES, chosen_mode
from agog_keras.layers.vocabulary import Vocabulary
from agog_layers.arguments.checks import choice

__all__ = ["TextVectorization"]

_STANDARDS = ("lower_and_strip_punctuation", "lower", "strip_punctuation")
# What a `StringLookup` is told, and this layer knows.
_NOT_OWN = ("invert", "mask_token", "num_oov_indices", "oov_token")
_SPLITS = ("whitespace", "character")
_PUNCTUATION = re.compile(r"""[!"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~']""")


class TextVectorization(Vocabulary):
    """Split texts into words, and number these by a vocabulary, given or learned by `adapt`.

    The number 0 stands for no word, where a text is shorter than others, and 1 for unknown words.

    Args:
        max_tokens: how many numbers there are at most; None for any number.
        standardize: what is done first: ``"lower_and_strip_punctuation"``, ``"lower"``, ``"strip_punctuation"``, a
            function of a tensor of strings, or None.
        split: what texts are cut into: ``"whitespace"`` for words, ``"character"``, a function of a tensor of strings
            that gives words along a last axis, or None for none.
        ngrams: up to how many words in a row are a term, or a list of such numbers; None for 1.
        output_mode: ``"int"``; or ``"multi_hot"``, ``"count"`` or ``"tf_idf"``, which make vectors: see `StringLookup`.
        output_sequence_length: how many numbers each text has, for ``"int"``; None for as many as the longest.
        vocabulary: the terms, most frequent first; None for those that `adapt` finds.
        idf_weights: a weight for each of them, for ``"tf_idf"``.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: an argument is unknown, or the vocabulary has a term twice.

    >>> layer = TextVectorization(output_sequence_length=4)
    >>> layer.adapt(["The cat sat.", "The dog!"])
    >>> layer.get_vocabulary()
    ['', '[UNK]', 'the', 'sat', 'dog', 'cat']
    >>> print(layer(["the dog ran"]))
    tf.Tensor([[2 4 1 0]], shape=(1, 4), dtype=int64)
    """

    terms_dtype = "string"

    def __init__(
        self,
        max_tokens: int | None = None,
        standardize: str | Callable[[Tensor], Any] | None = "lower_and_strip_punctuation",
        split: str | Callable[[Tensor], Any] | None = "whitespace",
        ngrams: int | Sequence[int] | None = None,
        output_mode: str = "int",
        output_sequence_length: int | None = None,
        vocabulary: Any = None,
        idf_weights: Any = None,
        **kwargs: Any,
    ) -> None:
        if isinstance(standardize, str):
            standardize = choice("TextVectorization", "standardize", standardize, _STANDARDS)
        if isinstance(split, str):
            split = choice("TextVectorization", "split", split, _SPLITS)
        self.standardize, self.split, self.ngrams = standardize, split, ngrams
        self.output_sequence_length = output_sequence_length
        mode = chosen_mode("TextVectorization", output_mode, ("int", *MODES[2:]))
        super().__init__(max_tokens, 1, "", "[UNK]", vocabulary, idf_weights, False, mode, **kwargs)

    def update_state(self, data: Tensor) -> None:
        self.count_rows(self.terms(data))

    def terms(self, texts: Any) -> list[list[str]]:
        """Cut texts into terms.

        Args:
            texts: a tensor of strings.

        Returns:
            A list of terms for each text.
        """
        x = convert_to_tensor(texts, "string")
        if callable(self.standardize):
            x = convert_to_tensor(self.standardize(x), "string")
        if len(x._shape) == 2 and x._shape[1] == 1 and self.split is not None:
            x = reshape(x, [-1])
        if callable(self.split):
            x = convert_to_tensor(self.split(x), "string")
        rows: Any = x.numpy()
        rows = [rows] if isinstance(rows, bytes) else rows.tolist()
        return [self._with_ngrams(self._words(row)) for row in rows]

    def _words(self, row: Any) -> list[str]:
        if isinstance(row, list):
            return [self._standard(each) for each in row if each]
        text = self._standard(row)
        if self.split == "whitespace":
            return text.split()
        return list(text) if self.split == "character" else [text]

    def _standard(self, value: bytes) -> str:
        text: str = self._term(value)
        if self.standardize in ("lower_and_strip_punctuation", "lower"):
            text = text.lower()
        return _PUNCTUATION.sub("", text) if self.standardize in (_STANDARDS[0], "strip_punctuation") else text

    def _with_ngrams(self, words: list[str]) -> list[str]:
        if self.ngrams is None:
            return words
        sizes = range(1, self.ngrams + 1) if isinstance(self.ngrams, int) else self.ngrams
        return [" ".join(words[n : n + size]) for size in sizes for n in range(len(words) - size + 1)]

    def call(self, inputs: Tensor) -> Tensor:
        """Cut the texts, and find the numbers: of shape (texts, length), or a vector for one text."""
        if not self._terms:
            raise RuntimeError(f"{self._title} has no vocabulary yet: call adapt on data, or set_vocabulary.")
        outputs = self.encode(at_each_run(self._padded, convert_to_tensor(inputs, "string")))
        return outputs[0] if not getattr(inputs, "_shape", (1,)) else outputs

    def _padded(self, texts: Tensor) -> Tensor:
        """The numbers of the terms of texts, in rows of one length."""
        rows = [self.numbers(row) for row in self.terms(texts)]
        length = max(map(len, rows), default=0)
        if self.output_mode == "int" and self.output_sequence_length is not None:
            length = self.output_sequence_length
        padding = 0 if self.output_mode == "int" else -1  # of which no vector has a 1
        padded = [(row + [padding] * length)[:length] for row in rows]
        return reshape(constant([n for row in padded for n in row], "int64"), [len(rows), length])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        length = self.output_sequence_length if self.output_mode == "int" else self.vocabulary_size()
        return TensorShape([*TensorShape(input_shape).as_list()[:1], length])

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {name: value for name, value in config.items() if name not in _NOT_OWN}

"""Tokenizer: texts as numbers of words, as in Keras's ``preprocessing.text``; `TextVectorization` is the layer."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from agog_layers.arguments.checks import choice

__all__ = ["Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json"]

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(text: str, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[str]:
    """Cut a text into words.

    Args:
        text: the text.
        filters: the characters that are taken for separators.
        lower: whether the words are made lower case.
        split: the separator.

    Returns:
        The words.

    >>> text_to_word_sequence("The cat, the dog!")
    ['the', 'cat', 'the', 'dog']
    """
    text = text.lower() if lower else text
    separators: dict[str, str | int | None] = dict.fromkeys(filters, split)
    return [word for word in text.translate(str.maketrans(separators)).split(split) if word]


def hashing_trick(
    text: str,
    n: int,
    hash_function: str | Callable[[str], int] | None = None,
    filters: str = _FILTERS,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """Make numbers of the words of a text by a hash; several words may get one number.

    Args:
        text: the text.
        n: the numbers are from 1 to ``n - 1``.
        hash_function: a function of a word; ``"md5"`` or None for MD5, whose numbers are the same in each process.
        filters, lower, split: see `text_to_word_sequence`.

    Returns:
        A number for each word.

    >>> hashing_trick("a b a", 50)[0] == hashing_trick("a", 50)[0]
    True
    """
    function = _md5 if hash_function in (None, "md5") else hash_function
    if not callable(function):
        raise ValueError(f"hashing_trick: hash_function must be a function, 'md5' or None; got {hash_function!r}.")
    return [function(word) % (n - 1) + 1 for word in text_to_word_sequence(text, filters, lower, split)]


def one_hot(input_text: str, n: int, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[int]:
    """See `hashing_trick`."""
    return hashing_trick(input_text, n, None, filters, lower, split)


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode("utf-8"), usedforsecurity=False).hexdigest(), 16)


class Tokenizer:
    """Makes numbers of words; the most frequent word is 1.

    Args:
        num_words: only words with numbers below this are kept; None for all.
        filters, lower, split: see `text_to_word_sequence`.
        char_level: whether each character is a word.
        oov_token: the word that stands for unknown ones, with number 1; None to leave them out.

    Attributes:
        word_index: words to their numbers.
        index_word: numbers to words.
        word_counts: words to how often there were.
        document_count: the number of texts that were seen.

    >>> tokenizer = Tokenizer()
    >>> tokenizer.fit_on_texts(["the cat", "The dog!"])
    >>> tokenizer.texts_to_sequences(["the dog sat"]), tokenizer.word_index
    ([[1, 3]], {'the': 1, 'cat': 2, 'dog': 3})
    """

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = _FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
    ) -> None:
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token = char_level, oov_token
        self.word_counts: Counter[str] = Counter()
        self.word_docs: Counter[str] = Counter()
        self.document_count = 0
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> list[str]:
        if not isinstance(text, str):
            return [each.lower() if self.lower else each for each in text]
        if self.char_level:
            return list(text.lower() if self.lower else text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Learn words.

        Args:
            texts: strings, or lists of words.
        """
        for text in texts:
            words = self._words(text)
            self.word_counts.update(words)
            self.word_docs.update(set(words))
            self.document_count += 1
        ordered = [] if self.oov_token is None else [self.oov_token]
        ordered += [word for word, _ in self.word_counts.most_common() if word != self.oov_token]
        self.word_index = {word: number for number, word in enumerate(ordered, start=1)}
        self.index_word = {number: word for word, number in self.word_index.items()}

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """Make numbers of words.

        Args:
            texts: strings, or lists of words.

        Returns:
            A list of numbers for each text.
        """
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """See `texts_to_sequences`; the lists come one after the other."""
        unknown = None if self.oov_token is None else self.word_index.get(self.oov_token)
        for text in texts:
            numbers = [self.word_index.get(word) for word in self._words(text)]
            kept = [n if n is not None and (not self.num_words or n < self.num_words) else unknown for n in numbers]
            yield [n for n in kept if n is not None]

    def sequences_to_texts(self, sequences: Iterable[Sequence[int]]) -> list[str]:
        """Make texts of numbers.

        Args:
            sequences: lists of numbers.

        Returns:
            The words of each, with spaces between them.
        """
        return [
            " ".join(word for number in row if (word := self.index_word.get(int(number), self.oov_token)) is not None)
            for row in sequences
        ]

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> np.ndarray[Any, Any]:
        """Make a vector of each text. See `sequences_to_matrix`."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Sequence[Sequence[int]], mode: str = "binary") -> np.ndarray[Any, Any]:
        """Make a vector of each list of numbers.

        Args:
            sequences: lists of numbers.
            mode: ``"binary"``, ``"count"``, ``"freq"`` for shares of the list, or ``"tfidf"``.

        Returns:
            An array of shape (lists, num_words), or as many columns as there are words and one more.
        """
        kind = choice("sequences_to_matrix", "mode", mode, ("binary", "count", "freq", "tfidf"))
        matrix = np.zeros((len(sequences), self.num_words or len(self.word_index) + 1))
        for row, numbers in zip(matrix, sequences, strict=True):
            for number, count in Counter(numbers).items():
                if number >= len(row):
                    continue
                rare = np.log(1 + self.document_count / (1 + self.word_docs[self.index_word.get(number, "")]))
                values = {"binary": 1.0, "count": count, "freq": count / len(numbers)}
                row[number] = (1 + np.log(count)) * rare if kind == "tfidf" else values[kind]
        return matrix

    def to_json(self) -> str:
        """Describe the tokenizer.

        Returns:
            A text, for `tokenizer_from_json`.
        """
        options = ("num_words", "filters", "lower", "split", "char_level", "oov_token")
        return json.dumps(
            {
                "options": {name: getattr(self, name) for name in options},
                "word_counts": self.word_counts,
                "word_docs": self.word_docs,
                "document_count": self.document_count,
            }
        )


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """Make a tokenizer of its description.

    Args:
        json_string: what `Tokenizer.to_json` returned.

    Returns:
        A new tokenizer.

    >>> tokenizer = Tokenizer()
    >>> tokenizer.fit_on_texts(["the cat", "the dog"])
    >>> tokenizer_from_json(tokenizer.to_json()).word_index
    {'the': 1, 'cat': 2, 'dog': 3}
    """
    data = json.loads(json_string)
    tokenizer = Tokenizer(**data["options"])
    tokenizer.word_counts, tokenizer.word_docs = Counter(data["word_counts"]), Counter(data["word_docs"])
    tokenizer.document_count = data["document_count"]
    tokenizer.fit_on_texts([])
    return tokenizer

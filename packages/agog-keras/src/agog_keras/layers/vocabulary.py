"""Vocabulary: layers from words or integers to numbers, by a given or learned list."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from agog_core import Tensor, as_dtype, constant, convert_to_tensor, int64, reshape, string_to_hash_bucket_fast
from agog_core.errors import InvalidArgumentError
from agog_core.files import file_path, open_file
from agog_core.settable import has_changed
from agog_core.tensors.convert import computed
from agog_core.tensors.host_functions import HostFunction, host_function
from agog_keras.layers.adaptation import Adaptable
from agog_keras.layers.encoding import MODES, chosen_mode, encoded

__all__ = ["IntegerLookup", "StringLookup"]


class Vocabulary(Adaptable):
    """Base of layers with a list of terms; for the arguments see `StringLookup`."""

    # The dtype of terms, and what makes one of a line in a file.
    terms_dtype: str
    term_type: type = str

    def __init__(
        self,
        max_tokens: int | None,
        num_oov_indices: int,
        mask_token: Any,
        oov_token: Any,
        vocabulary: Any,
        idf_weights: Any,
        invert: bool,
        output_mode: str,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__
        self.max_tokens, self.num_oov_indices = max_tokens, num_oov_indices
        self.mask_token, self.oov_token, self.invert = mask_token, oov_token, invert
        self.output_mode = chosen_mode(kind, output_mode, MODES)
        self._terms: list[Any] = []
        self._idf: list[float] | None = None
        self._given = vocabulary is not None
        self.reset_counts()
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    @property
    def _first_unknown(self) -> int:
        return 0 if self.mask_token is None or self.output_mode != "int" else 1

    @property
    def _first_term(self) -> int:
        return self._first_unknown + self.num_oov_indices

    @property
    def vocabulary(self) -> list[Any] | None:
        """The terms, for the layer's description; None before there are any."""
        return self._terms or None

    @property
    def idf_weights(self) -> list[float] | None:
        """The weights of the terms for ``"tf_idf"``, for the layer's description."""
        return self._idf

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """List the terms by their numbers.

        Args:
            include_special_tokens: whether the mask and what stands for unknown terms come first.

        Returns:
            A list of strings or integers.
        """
        before = [] if self._first_unknown == 0 else [self.mask_token]
        specials = [*before, *([self.oov_token] * self.num_oov_indices)]
        return [*(specials if include_special_tokens else []), *self._terms]

    def vocabulary_size(self) -> int:
        """Count the terms, with the mask and what stands for unknown ones.

        Returns:
            The number.
        """
        return self._first_term + len(self._terms)

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Give the terms.

        Args:
            vocabulary: the terms, an array or list; or the name of a file that has one in each line. The mask and what
                stands for unknown terms may come first.
            idf_weights: a weight for each term, for ``"tf_idf"``.

        Raises:
            ValueError: a term is there twice, there are too many, or not as many weights.
        """
        if isinstance(vocabulary, str):
            with open_file(file_path(self._title, vocabulary), encoding="utf-8") as file:
                vocabulary = file.read().splitlines()
        terms = [self._term(each) for each in convert_to_tensor(vocabulary, self.terms_dtype).numpy().tolist()]
        for special in (self.mask_token, *([self.oov_token] * self.num_oov_indices)):
            if special is not None and terms[:1] == [special]:
                terms = terms[1:]
        twice = [term for term, count in Counter(terms).items() if count > 1]
        if twice:
            raise ValueError(f"{self._title}: the vocabulary has {twice[0]!r} twice.")
        if self.max_tokens is not None and self._first_term + len(terms) > self.max_tokens:
            raise ValueError(
                f"{self._title}: the vocabulary has {len(terms)} terms, and {self._first_term} places are for others; "
                f"max_tokens is {self.max_tokens}."
            )
        weights = None if idf_weights is None else [float(each) for each in idf_weights]
        if weights is not None and len(weights) != len(terms):
            raise ValueError(f"{self._title}: there are {len(terms)} terms and {len(weights)} idf_weights.")
        vars(self)["_terms"], vars(self)["_idf"] = terms, weights
        vars(self)["_numbers"] = {term: self._first_term + n for n, term in enumerate(terms)}
        has_changed(self, "_terms")

    def reset_counts(self) -> None:
        """Forget what was seen."""
        vars(self).update(_counts=Counter(), _in_rows=Counter(), _rows=0)

    def reset_state(self) -> None:
        if self._given:
            raise ValueError(f"{self._title}: the vocabulary was given, so there is nothing to adapt; leave it out.")
        self.reset_counts()

    def update_state(self, data: Tensor) -> None:
        self.count_rows(_rows(convert_to_tensor(data, preferred_dtype=self.terms_dtype)))

    def count_rows(self, rows: list[list[Any]]) -> None:
        """Count the terms in rows of terms."""
        for row in rows:
            terms = [self._term(each) for each in row]
            vars(self)["_counts"].update(terms)
            vars(self)["_in_rows"].update(set(terms))
        vars(self)["_rows"] += len(rows)

    def finalize_state(self) -> None:
        """Take the most frequent terms; of those that are equally frequent, the last by the alphabet first."""
        counts, rows = vars(self)["_counts"], vars(self)["_rows"]
        terms = sorted((term for term in counts if term not in (self.mask_token, self.oov_token)), reverse=True)
        terms.sort(key=lambda term: -counts[term])
        if self.max_tokens is not None:
            terms = terms[: max(0, self.max_tokens - self._first_term)]
        in_rows = vars(self)["_in_rows"]
        weights = [math.log(1 + rows / (1 + in_rows[term])) for term in terms]
        self.set_vocabulary(terms, weights if self.output_mode == "tf_idf" else None)
        self.reset_counts()

    def call(self, inputs: Tensor) -> Tensor:
        """Find the numbers, or the terms where ``invert``."""
        if not self._terms:
            raise RuntimeError(f"{self._title} has no vocabulary yet: call adapt on data, or set_vocabulary.")
        x = convert_to_tensor(inputs, preferred_dtype=self.terms_dtype)
        if self.invert:
            terms_of = HostFunction("keras.vocabulary", self._data(), self._terms_of)
            return computed(terms_of, [x], [as_dtype(self.terms_dtype)])[0]
        numbers_of = HostFunction("keras.vocabulary", self._data(), self._numbers_of)
        return self.encode(computed(numbers_of, [x], [int64], may_fail=True)[0])

    def _data(self) -> dict[str, Any]:
        """What a saved function makes the layer of anew."""
        return {
            "is_of_strings": self.terms_dtype == "string",
            "is_back": self.invert,
            "vocabulary": self._terms,
            "num_oov_indices": self.num_oov_indices,
            "mask_token": self.mask_token,
            "oov_token": self.oov_token,
            "output_mode": "multi_hot" if self.output_mode == "tf_idf" else self.output_mode,
        }

    def _terms_of(self, numbers: Any) -> list[Any]:
        known = self.get_vocabulary()
        found = [known[n] if 0 <= n < len(known) else self.oov_token for n in numbers.reshape(-1).tolist()]
        return [constant(found, self.terms_dtype).numpy().reshape(numbers.shape)]

    def _numbers_of(self, terms: Any) -> list[Any]:
        numbers = terms.reshape(-1).astype(object)
        numbers[:] = self.numbers([self._term(each) for each in numbers.tolist()])
        return [numbers.reshape(terms.shape)]

    def encode(self, numbers: Tensor) -> Tensor:
        """The output of numbers in the output mode."""
        weights = None
        if self.output_mode == "tf_idf":
            if self._idf is None:
                raise RuntimeError(
                    f"{self._title} has no idf_weights: call adapt on data, or set_vocabulary with them."
                )
            mean = sum(self._idf) / len(self._idf)
            weights = constant([*[mean] * self._first_term, *self._idf], "float32")
        return encoded(numbers, self.output_mode, self.vocabulary_size(), weights)

    def numbers(self, terms: Sequence[Any]) -> list[int]:
        """The numbers of terms."""
        known: dict[Any, int] = vars(self)["_numbers"]
        found = [0 if term == self.mask_token and self._first_unknown else known.get(term, -1) for term in terms]
        unknown = [n for n, number in enumerate(found) if number < 0]
        if unknown and not self.num_oov_indices:
            raise InvalidArgumentError(
                f"{self._title}: {terms[unknown[0]]!r} is not in the vocabulary, and num_oov_indices is 0; give it a "
                "place with num_oov_indices=1."
            )
        if unknown and self.num_oov_indices > 1:
            texts = constant([str(terms[n]) for n in unknown], "string")
            places = string_to_hash_bucket_fast(texts, self.num_oov_indices).numpy().tolist()
        else:
            places = [0] * len(unknown)
        for n, place in zip(unknown, places, strict=True):
            found[n] = self._first_unknown + place
        return found

    def _term(self, value: Any) -> Any:
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def checkpoint_state(self) -> dict[str, Any]:
        return {"vocabulary": self._terms, "idf_weights": self._idf}

    def restore_checkpoint_state(self, state: Any) -> None:
        if state["vocabulary"]:
            self.set_vocabulary(state["vocabulary"], state["idf_weights"])


class StringLookup(Vocabulary):
    """Number strings by a vocabulary, given or learned by `adapt`.

    The number 0 is the mask's, if there is a mask and the mode is ``"int"``; then come those of unknown strings, and
    then those of the vocabulary.

    Args:
        max_tokens: how many numbers there are at most; None for any number.
        num_oov_indices: how many numbers unknown strings have; 0 makes them an error.
        mask_token: the string of number 0; None for none.
        oov_token: what unknown strings are called, going back.
        vocabulary: the strings, most frequent first, or the name of a file of them; None for those that `adapt` finds.
        idf_weights: a weight for each of them, for ``"tf_idf"``.
        invert: whether to go back, from numbers to strings.
        output_mode: ``"int"``; or ``"one_hot"``, ``"multi_hot"``, ``"count"`` or ``"tf_idf"``, which make vectors: see
            `CategoryEncoding`; the last is counts times weights.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the mode is unknown, or the vocabulary has a string twice.

    >>> layer = StringLookup()
    >>> layer.adapt([["cat", "dog"], ["cat", "bird"]])
    >>> layer.get_vocabulary()
    ['[UNK]', 'cat', 'dog', 'bird']
    >>> print(layer([["bird", "cow"]]))
    tf.Tensor([[3 0]], shape=(1, 2), dtype=int64)
    """

    terms_dtype = "string"

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            vocabulary,
            idf_weights,
            invert,
            output_mode,
            **kwargs,
        )


class IntegerLookup(Vocabulary):
    """Number integers without gaps, by a vocabulary, given or learned by `adapt`.

    Args:
        mask_token: the integer of number 0; None for none.
        oov_token: what unknown integers are called, going back.
        Other arguments: see `StringLookup`.

    >>> layer = IntegerLookup(vocabulary=[12, 36, 1138])
    >>> print(layer([[36, 7]]))
    tf.Tensor([[2 0]], shape=(1, 2), dtype=int64)
    """

    terms_dtype = "int64"
    term_type = int

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int = -1,
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            vocabulary,
            idf_weights,
            invert,
            output_mode,
            **kwargs,
        )


def _rows(x: Tensor) -> list[list[Any]]:
    """The values of each example."""
    rows = reshape(x, [x._shape[0], -1]) if x._shape else reshape(x, [1, 1])
    listed: list[list[Any]] = rows.numpy().tolist()
    return listed


@host_function("keras.vocabulary")
def _vocabulary(is_of_strings: bool, is_back: bool, vocabulary: list[Any], **settings: Any) -> Callable[..., Any]:
    """What finds numbers or terms in a saved function."""
    layer: Vocabulary = (StringLookup if is_of_strings else IntegerLookup)(
        vocabulary=vocabulary, invert=is_back, **settings
    )
    return layer._terms_of if is_back else layer._numbers_of

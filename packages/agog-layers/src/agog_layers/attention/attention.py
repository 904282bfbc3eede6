"""Attention: means of values, weighted by queries and keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.ops.nn.attention import dot_product_attention
from agog_layers.calls.learning_phase import trains
from agog_layers.layer.layer import Layer

__all__ = ["AdditiveAttention", "Attention"]


class BaseAttention(Layer, needs_floats=True, supports_masking=True):
    """Base of attention layers: masks, softmax and dropout of the scores that a subclass computes.

    Args:
        causal: whether a query sees only the keys up to its own place.
        dropout: the share of the weights that is dropped while training.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the share is not in [0, 1).
    """

    def __init__(self, causal: bool = False, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= dropout < 1:
            raise ValueError(f"{type(self).__name__}: dropout must be in [0, 1); got {dropout}.")
        self.causal = causal
        self.dropout = dropout

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """How well keys, of shape (batch, keys, size), fit queries, of shape (batch, queries, size).

        The scores are of shape (batch, queries, keys).
        """
        raise NotImplementedError(f"{type(self).__name__}.scores is not implemented; it compares queries with keys.")

    def call(self, inputs: Any, mask: Any = None, training: Any = None, return_attention_scores: bool = False) -> Any:
        """Compute weighted means.

        Args:
            inputs: a list of the queries, of shape (batch, queries, size), the values, of shape (batch, keys, any
                size), and the keys, of shape (batch, keys, size); without keys, the values are the keys too.
            mask: a list of the masks of the queries and of the values, booleans of shapes (batch, queries) and (batch,
                keys), or None for either: masked values have no weight, and masked queries the result 0.
            training: whether to drop weights.
            return_attention_scores: whether to return the weights too.

        Returns:
            A tensor of shape (batch, queries, size of a value); with ``return_attention_scores`` a tuple of that and
            the weights, of shape (batch, queries, keys).

        Raises:
            ValueError: the inputs or the masks are no list of that length, or the shapes do not fit.
        """
        query, value, key = self._checked(inputs)
        query_mask, value_mask = self._checked_masks(mask)
        allowed = None if value_mask is None else ag.expand_dims(value_mask, 1)
        if self.causal:
            past = causal_mask(query.shape[1], key.shape[1])
            allowed = past if allowed is None else allowed & past
        weights, drops = None, self.dropout and trains(training)
        if drops or return_attention_scores:
            weights = masked_softmax(self.scores(query, key), allowed)
            weights = ag.nn.dropout(weights, rate=self.dropout) if drops else weights
            result = weights @ value
        else:
            result = self._means(query, key, value, allowed)
        if query_mask is not None:
            result = result * ag.cast(ag.expand_dims(query_mask, 2), result.dtype)
        return (result, weights) if return_attention_scores else result

    def _means(self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None) -> Tensor:
        """The means, where nobody asks for the weights."""
        return masked_softmax(self.scores(query, key), allowed) @ value

    def _checked(self, inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
        if not isinstance(inputs, (list, tuple)) or len(inputs) not in (2, 3):
            got = f"{len(inputs)} inputs" if isinstance(inputs, (list, tuple)) else type(inputs).__name__
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} takes a list of queries and values, or of queries, values "
                f"and keys; got {got}."
            )
        query, value, key = [*inputs, inputs[1]][:3]
        batch, size = query.shape[:1], query.shape[2:]
        fits = query.ndim == value.ndim == key.ndim == 3 and key.shape[2:] == size and key.shape[1] == value.shape[1]
        if not fits or not batch == value.shape[:1] == key.shape[:1]:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} takes queries of shape (batch, queries, size), values of "
                "shape (batch, keys, any size) and keys of shape (batch, keys, size); got shapes "
                f"{query.shape}, {value.shape} and {key.shape}."
            )
        return query, value, key

    def _checked_masks(self, mask: Any) -> list[Tensor | None]:
        if mask is None:
            return [None, None]
        if not isinstance(mask, (list, tuple)) or len(mask) < 2:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} takes a list of the masks of the queries and of the "
                f"values, with None for no mask; got {type(mask).__name__}."
            )
        return [None if each is None else ag.convert_to_tensor(each, "bool") for each in mask[:2]]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the queries."""
        return mask[0] if mask else None


class Attention(BaseAttention):
    """Attention by dot products: ``softmax(query @ key^T) @ value``.

    M. Luong et al., "Effective approaches to attention-based neural machine translation", EMNLP 2015.

    Args:
        use_scale: whether the scores are multiplied by a number that is learnt.
        Other arguments: see `BaseAttention`.

    >>> import agog_core as ag
    >>> query, value = ag.constant([[[100.0, 0.0]]]), ag.constant([[[1.0, 2.0], [0.0, 1.0]]])
    >>> print(Attention()([query, value]))
    tf.Tensor([[[1. 2.]]], shape=(1, 1, 2), dtype=float32)
    """

    def __init__(self, use_scale: bool = False, causal: bool = False, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(causal, dropout, **kwargs)
        self.use_scale = use_scale
        self.scale: ag.Variable | None = None

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        if self.use_scale:
            self.scale = self.add_weight("scale", (), initializer="ones")
        self.built = True

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """The dot products; see `BaseAttention.scores`."""
        products = ag.matmul(query, key, transpose_b=True)
        return products if self.scale is None else products * self.scale.value()

    def _means(self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None) -> Tensor:
        if type(self).scores is not Attention.scores:
            return super()._means(query, key, value, allowed)
        query = query if self.scale is None else query * self.scale.value()
        return dot_product_attention(query, key, value, unseen(allowed, query.dtype), factor=1.0)


class AdditiveAttention(BaseAttention):
    """Attention by sums: the scores are ``sum(scale * tanh(query + key))``.

    D. Bahdanau et al., "Neural machine translation by jointly learning to align and translate", ICLR 2015.

    Args:
        use_scale: whether there is a scale, which is learnt; else it is 1.
        Other arguments: see `BaseAttention`.

    >>> import agog_core as ag
    >>> layer = AdditiveAttention()
    >>> layer([ag.zeros([2, 3, 4]), ag.zeros([2, 5, 4])]).shape, layer.scale.shape
    (TensorShape([2, 3, 4]), TensorShape([4]))
    """

    def __init__(self, use_scale: bool = True, causal: bool = False, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(causal, dropout, **kwargs)
        self.use_scale = use_scale
        self.scale: ag.Variable | None = None

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        if self.use_scale and isinstance(input_shape, Sequence):
            self.scale = self.add_weight("scale", (input_shape[0][-1],))
        self.built = True

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """The sums; see `BaseAttention.scores`."""
        terms = ag.tanh(ag.expand_dims(query, 2) + ag.expand_dims(key, 1))
        return ag.reduce_sum(terms if self.scale is None else terms * self.scale.value(), -1)


def causal_mask(queries: Any, keys: Any) -> Tensor:
    """Which keys queries may see, if each sees those up to its own place: booleans of shape (queries, keys).

    >>> print(causal_mask(2, 3))
    tf.Tensor(
    [[ True False False]
     [ True  True False]], shape=(2, 3), dtype=bool)
    """
    return ag.expand_dims(ag.range(int(queries)), 1) >= ag.range(int(keys))


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Softmax along the last axis, with no weight where it is not allowed; ``allowed`` broadcasts to the scores' shape.

    >>> import agog_core as ag
    >>> print(masked_softmax(ag.constant([1.0, 2.0]), ag.constant([True, False])))
    tf.Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    if allowed is None:
        return ag.nn.softmax(scores)
    return ag.nn.softmax(scores + unseen(allowed, scores.dtype))


def unseen(allowed: Tensor | None, dtype: ag.DType) -> Tensor | None:
    """What is added to scores so that there is no weight where it is not allowed.

    >>> print(unseen(ag.constant([True, False]), ag.float32))
    tf.Tensor([-0.e+00 -1.e+09], shape=(2,), dtype=float32)
    """
    if allowed is None:
        return None
    lowest = -6e4 if dtype.size == 2 else -1e9  # far below any score, and within the range of half precision
    return (1.0 - ag.cast(allowed, dtype)) * lowest

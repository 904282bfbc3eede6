"""MultiHeadAttention: several dot-product attentions in parallel."""

from __future__ import annotations

import math
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.ops.nn.attention import dot_product_attention
from agog_layers.arguments.checks import integer
from agog_layers.attention.attention import causal_mask, masked_softmax, unseen
from agog_layers.calls.learning_phase import trains
from agog_layers.calls.masks import all_of, known, mask_of
from agog_layers.layer.layer import Layer
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention(Layer, needs_floats=True, supports_masking=True):
    """Attention by dot products in several heads, each with projections of its own.

    A. Vaswani et al., "Attention is all you need", NIPS 2017.

    Args:
        num_heads: the number of heads.
        key_dim: the size of each head's queries and keys.
        value_dim: the size of each head's values; by default ``key_dim``.
        dropout: the share of the weights that is dropped while training.
        use_bias: whether the projections have biases.
        output_shape: the size of the output; by default that of the queries.
        Other arguments: see `Dense`; they are of each projection.

    Raises:
        ValueError: a number is not above 0, or the share is not in [0, 1).

    >>> import agog_core as ag
    >>> layer = MultiHeadAttention(num_heads=2, key_dim=3)
    >>> layer(ag.zeros([4, 5, 6]), ag.zeros([4, 7, 6])).shape
    TensorShape([4, 5, 6])
    >>> [v.shape.as_list() for v in layer.weights[::2]]
    [[6, 2, 3], [6, 2, 3], [6, 2, 3], [2, 3, 6]]
    """

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: int | None = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        kind = type(self).__name__
        if not 0 <= dropout < 1:
            raise ValueError(f"{kind}: dropout must be in [0, 1); got {dropout}.")
        self.num_heads = integer(kind, "num_heads", num_heads)
        self.key_dim = integer(kind, "key_dim", key_dim)
        self.value_dim = integer(kind, "value_dim", value_dim or key_dim)
        self.dropout = dropout
        self.use_bias = use_bias
        self.output_size = output_shape
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)

    def _described(self, name: str) -> Any:
        return super()._described("output_size" if name == "output_shape" else name)

    def call(
        self,
        query: Tensor,
        value: Any = None,
        key: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: Any = None,
        use_causal_mask: bool = False,
    ) -> Any:
        """Compute the means of each head, and project them.

        Args:
            query: the queries, of shape (batch, queries, size).
            value: the values, of shape (batch, keys, any size); by default the queries.
            key: the keys, of shape (batch, keys, any size); by default the values.
            attention_mask: booleans of shape (batch, queries, keys), or (queries, keys) for all examples: which values
                each query may see. Masks that go along with the tensors count too: queries, values and keys that are
                masked neither see nor are seen.
            return_attention_scores: whether to return the weights too.
            training: whether to drop weights.
            use_causal_mask: whether a query sees only the keys up to its own place.

        Returns:
            A tensor of shape (batch, queries, output size); with ``return_attention_scores`` a tuple of that and the
            weights, of shape (batch, heads, queries, keys).

        Raises:
            ValueError: the shapes do not fit.
        """
        values = query if value is None else ag.convert_to_tensor(value)
        keys = values if key is None else ag.convert_to_tensor(key)
        self._check_shapes(query, values, keys)
        if not hasattr(self, "query_kernel"):
            self._make_weights(query.shape, values.shape, keys.shape)
        q, k, v = self._projected("query", query), self._projected("key", keys), self._projected("value", values)
        allowed = self._allowed(attention_mask, use_causal_mask, q, k)
        if known:
            allowed = _with_masks(allowed, query, values, keys)
        weights, drops, factor = None, self.dropout and trains(training), 1 / math.sqrt(self.key_dim)
        if drops or return_attention_scores:
            weights = masked_softmax(ag.matmul(q * factor, k, transpose_b=True), allowed)
            weights = ag.nn.dropout(weights, rate=self.dropout) if drops else weights
            means = weights @ v
        else:
            means = dot_product_attention(q, k, v, unseen(allowed, q.dtype), factor)
        output = self._product("attention_output", ag.transpose(means, (0, 2, 1, 3)), 2)
        return (output, weights) if return_attention_scores else output

    def _make_weights(self, query: ag.TensorShape, value: ag.TensorShape, key: ag.TensorShape) -> None:
        heads, output = self.num_heads, self.output_size or query[-1]
        self._make("query", (query[-1], heads, self.key_dim), (heads, self.key_dim))
        self._make("key", (key[-1], heads, self.key_dim), (heads, self.key_dim))
        self._make("value", (value[-1], heads, self.value_dim), (heads, self.value_dim))
        self._make("attention_output", (heads, self.value_dim, output), (output,))

    def _make(self, name: str, kernel: Any, bias: Any) -> None:
        made = self._add_configured(f"{name}/kernel", kernel)
        setattr(self, f"{name}_kernel", made)
        made_bias = None
        if self.use_bias:
            made_bias = self._add_configured(f"{name}/bias", bias)
        setattr(self, f"{name}_bias", made_bias)

    def _product(self, name: str, x: Tensor, axes: int) -> Tensor:
        """The product of the last axes with a kernel, as one product of matrices."""
        kernel, bias = getattr(self, f"{name}_kernel").value(), getattr(self, f"{name}_bias")
        outer, inner = _sizes(x)[: x.ndim - axes], _sizes(kernel)
        rows = ag.reshape(x, (math.prod(outer), math.prod(inner[:axes])))
        product = rows @ ag.reshape(kernel, (rows.shape[1], math.prod(inner[axes:])))
        product = ag.reshape(product, (*outer, *inner[axes:]))
        return product if bias is None else product + bias.value()

    def _projected(self, name: str, x: Tensor) -> Tensor:
        """The projection for each head, of shape (batch, heads, time, size)."""
        return ag.transpose(self._product(name, x, 1), (0, 2, 1, 3))

    def _allowed(self, mask: Any, causal: bool, query: Tensor, key: Tensor) -> Tensor | None:
        """The keys that each query may see, in a shape that broadcasts to (batch, heads, queries, keys)."""
        past = causal_mask(query.shape[2], key.shape[2]) if causal else None
        if mask is None:
            return past
        allowed = ag.cast(ag.convert_to_tensor(mask), "bool")
        if allowed.shape[-2:] != [query.shape[2], key.shape[2]] or allowed.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r}: attention_mask must be of shape (batch, {query.shape[2]}, "
                f"{key.shape[2]}) or ({query.shape[2]}, {key.shape[2]}); got {allowed.shape}."
            )
        if allowed.ndim == 3:
            allowed = allowed[:, None]
        return allowed if past is None else allowed & past

    def _check_shapes(self, query: Tensor, value: Tensor, key: Tensor) -> None:
        fits = query.ndim == value.ndim == key.ndim == 3 and key.shape[:2] == value.shape[:2]
        if not fits or query.shape[:1] != key.shape[:1]:
            raise ValueError(
                f"{self._title} takes queries of shape (batch, queries, size), and values and "
                f"keys of shape (batch, keys, size); got shapes {query.shape}, {value.shape} and {key.shape}."
            )
        for name, tensor in (("query", query), ("key", key), ("value", value)):
            made = getattr(self, f"{name}_kernel", None)
            if made is not None and tensor.shape[2:] != made.shape[:1]:
                raise ValueError(
                    f"{self._title} takes a {name} of shape (batch, time, {made.shape[0]}); got shape {tensor.shape}."
                )


def _with_masks(allowed: Tensor | None, query: Tensor, value: Tensor, key: Tensor) -> Tensor | None:
    """The keys that each query may see, with the masks of the tensors."""
    of_queries, of_values = mask_of(query), all_of([mask_of(value), mask_of(key)])
    masks = [allowed]
    masks += [] if of_queries is None else [of_queries[:, None, :, None]]
    masks += [] if of_values is None else [of_values[:, None, None]]
    together: Tensor | None = all_of(masks)
    return together


def _sizes(x: Tensor) -> list[int]:
    return [size or 0 for size in x.shape.as_list()]

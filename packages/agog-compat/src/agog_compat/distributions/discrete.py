"""Discrete distributions: over classes, and over counts of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import agog_core as ag
from agog_compat.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from agog_compat.distributions.parameters import broadcast, filled, of_one_dtype, probabilities
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_core.ops.nn import log_softmax, softplus
from agog_core.shapes import Shape
from agog_core.tensors.convert import host_value

__all__ = ["Bernoulli", "Categorical", "Multinomial"]


class _OfProbabilities(Distribution):
    """Base of distributions whose parameters are logits or probabilities."""

    logits: Tensor
    probs: Tensor

    def _value(self, value: ag.TensorLike) -> Tensor:
        return ag.cast(ag.convert_to_tensor(value), self.probs.dtype)

    def _check_probs(self) -> None:
        if self.validate_args:
            self._require(self.probs >= 0.0, "Condition x >= 0 did not hold element-wise: probs.")
            self._require(self.probs <= 1.0, "probs has components greater than 1.")


class Bernoulli(_OfProbabilities):
    """The Bernoulli distribution, over 0 and 1.

    Args:
        logits: the log-odds of 1; or
        probs: the probabilities of 1.
        dtype: the dtype of samples.
        validate_args: whether probabilities and values are checked.
        allow_nan_stats: accepted; nothing is undefined.

    Raises:
        ValueError: neither logits nor probabilities are given, or both.
        InvalidArgumentError: a probability is not in [0, 1], if that is checked.

    >>> print(Bernoulli(probs=[0.25, 0.5]).prob(1))
    tf.Tensor([0.25 0.5 ], shape=(2,), dtype=float32)
    """

    def __init__(
        self,
        logits: ag.TensorLike = None,
        probs: ag.TensorLike = None,
        dtype: Any = ag.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        given = dict(locals())
        self.logits, self.probs = probabilities("Bernoulli", logits, probs, False)
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, None, name)
        self._check_probs()

    def _batch_shape(self) -> Shape:
        return self.probs._shape

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        shape = (*sample_shape, *self._batch_shape())
        uniform = ag.random_uniform(shape, 0.0, 1.0, self.probs.dtype, seed)
        return ag.cast(uniform < ag.stop_gradient(self.probs), self.dtype)

    def _checked(self, value: Tensor) -> Tensor:
        if self.validate_args:
            self._require(value >= 0.0, "must be non-negative.")
            self._require(value <= 1.0, "Elements cannot exceed 1.")
        return value

    def _log_prob(self, x: Tensor) -> Tensor:
        return x * self.logits - ag.maximum(self.logits, 0.0) - ag.log1p(ag.exp(-ag.abs(self.logits)))

    def _mean(self) -> Tensor:
        return self.probs

    def _variance(self) -> Tensor:
        return self.probs - ag.square(self.probs)

    def _mode(self) -> Tensor:
        return ag.cast(self.probs > 0.5, self.dtype)

    def _entropy(self) -> Tensor:
        return -self.logits * (ag.sigmoid(self.logits) - 1.0) + softplus(-self.logits)


@documented_like(Bernoulli)
class Categorical(_OfProbabilities):
    """The categorical distribution, over the numbers of classes.

    Args:
        logits: unnormalized log-probabilities of the classes, along the last axis; or
        probs: their probabilities.
        validate_args: whether probabilities are checked.

    >>> print(Categorical(probs=[0.25, 0.75]).prob([0, 1]))
    tf.Tensor([0.25 0.75], shape=(2,), dtype=float32)
    """

    def __init__(
        self,
        logits: ag.TensorLike = None,
        probs: ag.TensorLike = None,
        dtype: Any = ag.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        given = dict(locals())
        self.logits, self.probs = probabilities("Categorical", logits, probs, True)
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, None, name)
        self._check_probs()

    @property
    def event_size(self) -> Tensor:
        """How many classes there are.

        Returns:
            A scalar int32.
        """
        return ag.convert_to_tensor(self.logits._shape[-1], ag.int32)

    def _batch_shape(self) -> Shape:
        return self.logits._shape[:-1]

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        count = int(np.prod(sample_shape, dtype=np.int64))
        rows = ag.reshape(ag.stop_gradient(self.logits), (-1, self.logits._shape[-1]))
        drawn = ag.transpose(ag.multinomial(rows, count, seed))
        return ag.cast(ag.reshape(drawn, (*sample_shape, *self._batch_shape())), self.dtype)

    def _value(self, value: ag.TensorLike) -> Tensor:
        return ag.cast(ag.convert_to_tensor(value), ag.int32)

    def _log_prob(self, x: Tensor) -> Tensor:
        logs = log_softmax(self.logits)
        shape = broadcast(ag.expand_dims(ag.cast(x, logs.dtype), -1), logs)
        hot = ag.one_hot(filled(x, shape[:-1]), shape[-1], dtype=logs.dtype)
        return ag.reduce_sum(hot * logs, -1)

    def _mode(self) -> Tensor:
        return ag.cast(ag.argmax(self.logits, -1), self.dtype)

    def _entropy(self) -> Tensor:
        logs = log_softmax(self.logits)
        return -ag.reduce_sum(ag.exp(logs) * logs, -1)


class Multinomial(_OfProbabilities):
    """The multinomial distribution, over how often each class comes in a number of draws.

    Args:
        total_count: how many draws there are.
        logits: unnormalized log-probabilities of the classes, along the last axis; or
        probs: their probabilities.
        validate_args: whether probabilities and values are checked.
        allow_nan_stats: accepted; nothing is undefined.

    Raises:
        ValueError: neither logits nor probabilities are given, or both.
        InvalidArgumentError: a probability is not in [0, 1], if that is checked.

    >>> print(Multinomial(4.0, probs=[0.25, 0.75]).mean())
    tf.Tensor([1. 3.], shape=(2,), dtype=float32)
    """

    def __init__(
        self,
        total_count: ag.TensorLike,
        logits: ag.TensorLike = None,
        probs: ag.TensorLike = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        given = dict(locals())
        self.logits, self.probs = probabilities("Multinomial", logits, probs, True)
        (count,) = of_one_dtype(total_count)
        self.total_count = ag.cast(count, self.probs.dtype)
        super().__init__(self.probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, None, name)
        self._check_probs()

    def _batch_shape(self) -> Shape:
        return broadcast(self.total_count, self.probs[..., 0])

    def _event_shape(self) -> Shape:
        return self.probs._shape[-1:]

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        batch, classes = self._batch_shape(), self._event_shape()[0]
        counts = filled(self.total_count, batch)
        most = int(host_value(ag.reduce_max(counts)))
        logits = filled(ag.stop_gradient(self.logits), (*batch, classes))
        drawn = Categorical(logits).sample((most, *sample_shape), seed)
        taken = ag.reshape(ag.range(float(most), dtype=self.dtype), (most,) + (1,) * (drawn.ndim - 1)) < counts
        return ag.reduce_sum(
            ag.one_hot(drawn, classes, dtype=self.dtype) * ag.expand_dims(ag.cast(taken, self.dtype), -1), 0
        )

    def _checked(self, value: Tensor) -> Tensor:
        if self.validate_args:
            self._require(value >= 0.0, "counts must be non-negative.")
            apart = ag.abs(ag.reduce_sum(value, -1) - self.total_count)
            self._require(apart < 1e-3, "counts must sum to `self.total_count`")
        return value

    def _log_prob(self, x: Tensor) -> Tensor:
        ways = ag.lgamma(self.total_count + 1.0) - ag.reduce_sum(ag.lgamma(x + 1.0), -1)
        return ag.reduce_sum(x * log_softmax(self.logits), -1) + ways

    def _mean(self) -> Tensor:
        return self.probs * ag.expand_dims(self.total_count, -1)

    def _variance(self) -> Tensor:
        mean = self._mean()
        return mean - mean * self.probs

    def _covariance(self) -> Tensor:
        outer = -ag.expand_dims(self._mean(), -1) * ag.expand_dims(self.probs, -2)
        return ag.matrix_set_diag(outer, self._variance())

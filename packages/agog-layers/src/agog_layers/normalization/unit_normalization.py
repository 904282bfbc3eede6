"""Unit normalization: without a mean: by the norm, by the mean square, and of weights by their spectral norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import agog_core as ag
from agog_core import Tensor
from agog_layers.calls.learning_phase import trains
from agog_layers.layer.layer import Layer
from agog_layers.weights import initializers

__all__ = ["RMSNormalization", "SpectralNormalization", "UnitNormalization"]


class UnitNormalization(Layer, supports_masking=True, single_input=True, needs_floats=True):
    """Scale each example to the norm 1.

    Args:
        axis: the axis, or axes, that are scaled together.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(UnitNormalization()(ag.constant([[3.0, 4.0]])))
    tf.Tensor([[0.6 0.8]], shape=(1, 2), dtype=float32)
    """

    def __init__(self, axis: int | Sequence[int] = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis if isinstance(axis, int) else list(axis)

    def call(self, inputs: Tensor) -> Tensor:
        """Scale it."""
        norm = ag.sqrt(ag.reduce_sum(ag.square(inputs), self.axis, True))
        return inputs / ag.maximum(norm, 1e-12)


class RMSNormalization(Layer, supports_masking=True, single_input=True, needs_floats=True):
    """Divide by the root of the mean square, and multiply by a scale that is trained.

    B. Zhang and R. Sennrich, "Root mean square layer normalization", NeurIPS 2019.

    Args:
        axis: the axis, or axes, of the mean; the scale has their sizes.
        epsilon: a small number that is added to the mean square.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(RMSNormalization()(ag.constant([[3.0, 3.0]])))
    tf.Tensor([[0.99999994 0.99999994]], shape=(1, 2), dtype=float32)
    """

    computes_in: ClassVar[str | None] = "variable_dtype"  # means of half precision are too coarse

    scale: ag.Variable

    def __init__(self, axis: int | Sequence[int] = -1, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.epsilon = epsilon

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        rank = len(input_shape)
        axes = sorted(axis % rank for axis in ([self.axis] if isinstance(self.axis, int) else self.axis))
        self.scale = self.add_weight("scale", [input_shape[axis] for axis in axes], initializer="ones")
        self._places = [input_shape[axis] if axis in axes else 1 for axis in range(rank)]
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Divide and multiply."""
        root = ag.rsqrt(ag.reduce_mean(ag.square(inputs), self.axis, True) + self.epsilon)
        return inputs * root * ag.reshape(self.scale.value(), self._places)


class SpectralNormalization(Layer):
    """Run a layer with its kernel divided by the largest singular value, so that no vector is stretched.

    T. Miyato et al., "Spectral normalization for generative adversarial networks", ICLR 2018. The value is estimated by
    power iteration, which goes on with each call in training.

    Args:
        layer: the layer, with a ``kernel`` or ``embeddings``.
        power_iterations: how many iterations each call makes.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the number of iterations is not positive, or the layer has no such weight.

    >>> import agog_core as ag
    >>> from agog_layers import Dense
    >>> SpectralNormalization(Dense(3))(ag.ones([1, 4]), training=True).shape
    TensorShape([1, 3])
    """

    vector_u: ag.Variable

    def __init__(self, layer: Layer, power_iterations: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if power_iterations < 1:
            raise ValueError(f"SpectralNormalization: power_iterations must be at least 1; got {power_iterations}.")
        self.layer, self.power_iterations = layer, power_iterations

    def build(self, input_shape: Any) -> None:
        """Make the layer's weights, and the vector of the iteration."""
        if not self.layer.built:
            self.layer._dtype = self.layer._dtype or self._dtype
            self.layer.build(input_shape)
            self.layer.built = True
        weight = self._weight()
        normal = initializers.TruncatedNormal(stddev=0.02)
        self.vector_u = self.add_weight("vector_u", (1, weight.shape[-1]), weight.dtype, normal, trainable=False)
        self.built = True

    def _weight(self) -> ag.Variable:
        found = getattr(self.layer, "kernel", None)
        weight: ag.Variable | None = getattr(self.layer, "embeddings", None) if found is None else found
        if weight is None:
            raise ValueError(f"{self._title}: {self.layer._title} has neither a kernel nor embeddings.")
        return weight

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Run the layer; in training, its kernel is divided first."""
        if trains(training):
            self.normalize_weights()
        return self.layer(inputs)

    def normalize_weights(self) -> None:
        """Divide the kernel by its largest singular value, as far as it is known."""
        weight = self._weight()
        matrix = ag.reshape(weight.value(), [-1, weight.shape[-1]])
        u = self.vector_u.value()
        for _ in range(self.power_iterations):
            v = ag.nn.l2_normalize(ag.matmul(u, matrix, transpose_b=True))
            u = ag.nn.l2_normalize(v @ matrix)
        sigma = ag.matmul(v @ matrix, u, transpose_b=True)
        self.vector_u.assign(u)
        weight.assign(ag.reshape(matrix / sigma, weight.shape))

"""Batch normalisation: by the mean and variance of a batch, or by their moving averages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agog_core import Tensor, Variable, cast, dtypes, maximum, nn, reshape, stop_gradient
from agog_core.ops.nn.affine import standardize_affine
from agog_core.ops.nn.standardization import standardize
from agog_core.replicas import replicas_to_synchronize
from agog_core.shapes import Shape
from agog_layers.arguments.checks import number
from agog_layers.calls.learning_phase import trains
from agog_layers.normalization.layer_normalization import Normalizing
from agog_layers.normalization.moments import moments_of_all
from agog_layers.weights import initializers

__all__ = ["BatchNormalization"]


class BatchNormalization(Normalizing):
    """Normalise by the batch's mean and variance while training, else by their moving averages; then scale and shift.

    S. Ioffe and C. Szegedy, "Batch normalization: accelerating deep network training by reducing internal covariate
    shift", ICML 2015.

    A call with ``training=True`` updates the moving averages, whether the layer is trainable or not.

    Args:
        axis: the axis, or axes, that keep a mean and a variance for each of their elements.
        momentum: what remains of the moving averages at each update.
        moving_mean_initializer: an initializer of the moving mean or its name.
        moving_variance_initializer: an initializer of the moving variance or its name.
        renorm: must be False.
        fused: whether the moving variance is that of the population, as TensorFlow's fused op has it, and not the
            batch's; None for inputs of rank 4 whose axis is 1 or 3.
        trainable: whether the scale and the offset are trained.
        virtual_batch_size: must be None.
        adjustment: must be None.
        name: the layer's name.
        synchronize: whether the mean and variance are those of the examples of all processes that train together; Keras
            calls it ``synchronized``.
        Other arguments: see `Normalizing`.

    Raises:
        NotImplementedError: ``renorm``, ``virtual_batch_size`` or ``adjustment`` is given.

    >>> import agog_core as ag
    >>> layer = BatchNormalization(momentum=0.5, epsilon=0.0)
    >>> print(layer(ag.constant([[1.0], [3.0]]), training=True))
    tf.Tensor(
    [[-1.]
     [ 1.]], shape=(2, 1), dtype=float32)
    >>> print(layer.moving_mean.numpy(), layer.moving_variance.numpy())
    [1.] [1.]
    """

    moving_mean: Variable
    moving_variance: Variable

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        synchronize: bool = False,
        **kwargs: Any,
    ) -> None:
        synchronize = bool(kwargs.pop("synchronized", synchronize))
        super().__init__(
            axis,
            epsilon,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        given = {"renorm": renorm or None, "virtual_batch_size": virtual_batch_size, "adjustment": adjustment}
        for argument, value in given.items():
            if value is not None:
                raise NotImplementedError(f"{type(self).__name__}: {argument} is not supported; got {value!r}.")
        self.momentum = number(type(self).__name__, "momentum", momentum)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.renorm = renorm
        self.renorm_clipping = renorm_clipping
        self.renorm_momentum = renorm_momentum
        self.fused = fused
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        self.synchronize = synchronize

    def build_weights(self) -> None:
        images = self._rank == 4 and self._axes in ((1,), (3,))
        if self.fused and not images:
            raise ValueError(
                f"{self._title}: fused=True takes inputs of rank 4 whose axis is 1 or 3; got "
                f"rank {self._rank} and axis {self.axis}. Leave fused out."
            )
        self._unbiased = images if self.fused is None else self.fused
        self._over = tuple([axis for axis in range(self._rank) if axis not in self._axes])
        super().build_weights()
        for name in ("moving_mean", "moving_variance"):
            initializer = getattr(self, f"{name}_initializer")
            variable = self.add_weight(name, self.weight_shape(), self.weight_dtype(), initializer, trainable=False)
            setattr(self, name, variable)

    def weight_shape(self) -> Shape:
        if len(self._axes) == 1:
            return self._sizes
        known = dict(zip(self._axes, self._sizes, strict=True))
        return tuple([known.get(axis, 1) for axis in range(self._rank)])

    def weight_dtype(self) -> Any:
        # Moving averages of half precision would stand still.
        return dtypes.float32 if self._dtype is not None and self._dtype.size == 2 else None

    def call(self, inputs: Tensor, training: Any = None) -> Tensor:
        """Normalise, by the batch's mean and variance while training, which updates the moving averages."""
        self.check(inputs)
        half = inputs.dtype.size == 2
        x = cast(inputs, dtypes.float32) if half else inputs
        gamma, beta = self.spread(self.gamma), self.spread(self.beta)
        if trains(training):
            replicas = replicas_to_synchronize() if self.synchronize else None
            count: Any = math.prod([x._shape[axis] for axis in self._over])
            if replicas is not None:
                mean, variance, count = moments_of_all(x, self._over, replicas)
                outputs = nn.batch_normalization(x, mean, variance, beta, gamma, self.epsilon)
            elif gamma is not None and beta is not None:
                outputs, mean, variance = standardize_affine(x, gamma, beta, self._over, self.epsilon)
            else:
                outputs, mean, variance = standardize(x, self._over, self.epsilon)
                if gamma is not None:
                    outputs = outputs * gamma
                if beta is not None:
                    outputs = outputs + beta
            self._update(mean, variance, count)
        else:
            moving: list[Any] = [self.spread(self.moving_mean), self.spread(self.moving_variance)]
            outputs = nn.batch_normalization(x, moving[0], moving[1], beta, gamma, self.epsilon)
        return cast(outputs, inputs.dtype) if half else outputs

    def _update(self, mean: Tensor, variance: Tensor, count: Any) -> None:
        if not isinstance(count, Tensor):
            if not count:
                return
            unbiased = count / max(count - 1, 1)
        else:
            unbiased = count / maximum(count - 1.0, 1.0)
        if self._unbiased:
            variance = variance * unbiased
        for moving, latest in ((self.moving_mean, mean), (self.moving_variance, variance)):
            value = moving.value()
            change = value - reshape(stop_gradient(latest), value._shape)
            del value  # of which the update would make a copy
            moving.assign_sub(change * (1 - self.momentum))

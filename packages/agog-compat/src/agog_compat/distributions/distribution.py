"""Distribution: the base of all distributions."""

from __future__ import annotations

import inspect
from typing import Any, NoReturn

from agog_core import DType, Tensor, TensorLike, as_dtype, cast, exp, int32, log, log1p, sqrt, square
from agog_core.calls.broadcasting import static_shape
from agog_core.errors import InvalidArgumentError
from agog_core.settable import Settable
from agog_core.shapes import Shape, TensorShape
from agog_core.tensors.convert import convert_to_tensor, host_value

__all__ = ["FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Distribution", "ReparameterizationType"]


class ReparameterizationType:
    """Whether gradients flow from samples to the parameters.

    Args:
        rep_type: its name.
    """

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class Distribution(Settable):
    """Base of distributions: a batch of them, each over events of one shape. Derived classes have the formulas, in
    methods of the same names with a ``_`` before them.

    Args:
        dtype: the dtype of samples.
        reparameterization_type: whether gradients flow from samples to the parameters.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether what is undefined is NaN; an error otherwise.
        parameters: what the constructor was called with, by name.
        name: the name.
    """

    # The shape of each parameter's own part: parameters of distributions over vectors have one axis.
    _event_ndims = 0

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: Any = None,
        name: str | None = None,
    ) -> None:
        self.dtype: DType = as_dtype(dtype)
        self.reparameterization_type = reparameterization_type
        self.validate_args = validate_args
        self.allow_nan_stats = allow_nan_stats
        self._parameters = {key: value for key, value in (parameters or {}).items() if key not in ("self", "__class__")}
        self.name = f"{name or type(self).__name__}/"

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor was called with, by name."""
        return dict(self._parameters)

    @property
    def batch_shape(self) -> TensorShape:
        """How many distributions there are, along each axis."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one event."""
        return TensorShape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """`batch_shape`, as a tensor.

        Returns:
            A vector of int32.
        """
        return convert_to_tensor(list(self._batch_shape()), int32)

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """`event_shape`, as a tensor.

        Returns:
            A vector of int32.
        """
        return convert_to_tensor(list(self._event_shape()), int32)

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether there is one distribution.

        Returns:
            A scalar bool.
        """
        return convert_to_tensor(not self._batch_shape())

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether events are scalars.

        Returns:
            A scalar bool.
        """
        return convert_to_tensor(not self._event_shape())

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> dict[str, Tensor]:
        """The shapes that parameters must have for a sample to have a shape.

        Args:
            sample_shape: that shape.

        Returns:
            Names to vectors of int32.
        """
        return {
            key: convert_to_tensor(shape.as_list(), int32)
            for key, shape in cls.param_static_shapes(sample_shape).items()
        }

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """The same, as shapes.

        Args:
            sample_shape: the shape of a sample.

        Returns:
            Names to shapes.
        """
        return {key: TensorShape(static_shape(sample_shape)) for key in cls._parameter_names}

    # The constructor's arguments that have the shape of a batch.
    _parameter_names: tuple[str, ...] = ()

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """A distribution of other parameters.

        Args:
            **override_parameters_kwargs: those of the constructor's arguments that are others.

        Returns:
            A new distribution.
        """
        known = inspect.signature(type(self).__init__).parameters
        given = {key: value for key, value in self._parameters.items() if key in known}
        return type(self)(**{**given, **override_parameters_kwargs})

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Draw samples.

        Args:
            sample_shape: how many, along each axis.
            seed: the op's seed.

        Returns:
            A tensor of shape ``sample_shape + batch_shape + event_shape``.
        """
        sizes = host_value(sample_shape).reshape(-1)
        return self._sample(tuple(int(size) for size in sizes), seed)

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> Tensor:
        """The logarithms of densities or probabilities.

        Args:
            value: events.

        Returns:
            A tensor of the shape that events and distributions broadcast to.
        """
        return self._log_prob(self._checked(self._value(value)))

    def prob(self, value: TensorLike, name: str = "prob") -> Tensor:
        """The densities or probabilities of events; see `log_prob`."""
        return exp(self.log_prob(value))

    def cdf(self, value: TensorLike, name: str = "cdf") -> Tensor:
        """The probabilities of events that are not greater; see `log_prob`."""
        return self._cdf(self._value(value))

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> Tensor:
        """The logarithms of these; see `cdf`."""
        return self._log_cdf(self._value(value))

    def survival_function(self, value: TensorLike, name: str = "survival_function") -> Tensor:
        """The probabilities of events that are greater; see `log_prob`."""
        return self._survival_function(self._value(value))

    def log_survival_function(self, value: TensorLike, name: str = "log_survival_function") -> Tensor:
        """The logarithms of these; see `survival_function`."""
        return self._log_survival_function(self._value(value))

    def quantile(self, value: TensorLike, name: str = "quantile") -> Tensor:
        """The events of which `cdf` is a probability.

        Args:
            value: probabilities.

        Returns:
            A tensor of events.
        """
        return self._quantile(self._value(value))

    def mean(self, name: str = "mean") -> Tensor:
        """The means.

        Returns:
            A tensor of shape ``batch_shape + event_shape``.
        """
        return self._mean()

    def mode(self, name: str = "mode") -> Tensor:
        """The most probable events; see `mean`."""
        return self._mode()

    def variance(self, name: str = "variance") -> Tensor:
        """The variances; see `mean`."""
        return self._variance()

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviations; see `mean`."""
        return self._stddev()

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariances of the parts of events that are vectors.

        Returns:
            A tensor of shape ``batch_shape + [n, n]``.
        """
        return self._covariance()

    def entropy(self, name: str = "entropy") -> Tensor:
        """The entropies, in nats.

        Returns:
            A tensor of shape ``batch_shape``.
        """
        return self._entropy()

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """See `agog_compat.distributions.kl_divergence`.

        Args:
            other: another distribution.

        Returns:
            A tensor of shape ``batch_shape``.
        """
        from agog_compat.distributions.divergences import kl_divergence  # here, because it knows all distributions

        return kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """How many nats an event takes in a code for another distribution.

        Args:
            other: the other distribution.

        Returns:
            A tensor of shape ``batch_shape``.
        """
        return self.entropy() + self.kl_divergence(other)

    def _value(self, value: TensorLike) -> Tensor:
        tensor = convert_to_tensor(value, preferred_dtype=self.dtype)
        return tensor if tensor.dtype is self.dtype or not self.dtype.is_floating else cast(tensor, self.dtype)

    def _checked(self, value: Tensor) -> Tensor:
        """The argument of a density, after the checks of ``validate_args``."""
        return value

    def _require(self, holds: Tensor, text: str) -> None:
        if not bool(host_value(holds).all()):
            raise InvalidArgumentError(f"{self.name}{text}")

    def _unless_nan_is_allowed(self, holds: Tensor, text: str) -> None:
        if not self.allow_nan_stats:
            self._require(holds, text)

    def _missing(self, what: str) -> NoReturn:
        raise NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    def _batch_shape(self) -> Shape:
        self._missing("batch_shape")

    def _event_shape(self) -> Shape:
        return ()

    def _sample(self, sample_shape: Shape, seed: int | None) -> Tensor:
        self._missing("sample")

    def _log_prob(self, x: Tensor) -> Tensor:
        self._missing("log_prob")

    def _cdf(self, x: Tensor) -> Tensor:
        self._missing("cdf")

    def _log_cdf(self, x: Tensor) -> Tensor:
        return log(self._cdf(x))

    def _survival_function(self, x: Tensor) -> Tensor:
        return -self._cdf(x) + 1.0

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return log1p(-self._cdf(x))

    def _quantile(self, p: Tensor) -> Tensor:
        self._missing("quantile")

    def _mean(self) -> Tensor:
        self._missing("mean")

    def _mode(self) -> Tensor:
        self._missing("mode")

    def _variance(self) -> Tensor:
        return square(self._stddev())

    def _stddev(self) -> Tensor:
        return sqrt(self._variance())

    def _covariance(self) -> Tensor:
        self._missing("covariance")

    def _entropy(self) -> Tensor:
        self._missing("entropy")

    def __repr__(self) -> str:
        return (
            f"<tf.distributions.{type(self).__name__} {self.name!r} batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={self.dtype.name}>"
        )

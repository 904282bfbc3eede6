"""Metric: metrics of ``tf.keras`` as objects, accumulated over batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from agog_core import Tensor, TensorLike, Variable, as_dtype, cast, convert_to_tensor, div_no_nan, reduce_mean
from agog_layers.losses.arguments import of_one_rank
from agog_layers.losses.sample_weights import aligned, weighted_sum
from agog_layers.metrics.state import State
from agog_layers.naming.names import snake_case

__all__ = ["Mean", "Metric", "Sum"]


class Metric(State):
    """Base of metrics. Subclasses make their variables in ``__init__``, and say how they change and what they mean.

    Args:
        name: the metric's name; by default the class's in snake case.
        dtype: the dtype of the variables and of the result; float32 by default.

    >>> import agog_core as ag
    >>> class Largest(Metric):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.best = self.add_weight("best")
    ...
    ...     def update_state(self, values):
    ...         self.best.assign(ag.maximum(self.best, ag.reduce_max(values)))
    ...
    ...     def result(self):
    ...         return self.best.value()
    >>> print(Largest()([1.0, 3.0]))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """

    # The constructor's further arguments, which attributes keep.
    options: ClassVar[tuple[str, ...]] = ()
    # What Keras calls metrics that add up over batches.
    stateful: ClassVar[bool] = True

    def __init_subclass__(cls, *, options: tuple[str, ...] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if options is not None:
            cls.options = options

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        super().__init__()
        self.name = name or snake_case(type(self).__name__)
        self.dtype = as_dtype(dtype or "float32")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Take a batch into account by `update_state`, and return the `result` so far."""
        self.update_state(*args, **kwargs)
        return self.result()

    def add_weight(
        self, name: str, shape: Any = (), initializer: Any = "zeros", dtype: Any = None, aggregation: Any = None
    ) -> Variable:
        """Make a variable.

        Args:
            name: the variable's name, to which the metric's is prefixed.
            shape: the shape.
            initializer: an initializer or its name.
            dtype: the dtype; by default the metric's.

        Returns:
            The variable.
        """
        return self.new_variable(name, f"{self.name}/{name}", shape, dtype or self.dtype, initializer)

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Take a batch into account; subclasses say how."""
        raise NotImplementedError(
            f"{type(self).__name__}.update_state is not implemented; it takes a batch into account."
        )

    def result(self) -> Any:
        """Compute the metric of all that was seen; subclasses say how.

        Returns:
            A tensor.
        """
        raise NotImplementedError(
            f"{type(self).__name__}.result is not implemented; it computes the metric from the variables."
        )

    def reset_states(self) -> None:
        """Forget all that was seen."""
        self.set_back()

    def reset_state(self) -> None:
        """Forget all that was seen. See `Metric.reset_states`."""
        self.reset_states()

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments.

        Returns:
            A dict by name, for `from_config`.
        """
        return {"name": self.name, "dtype": self.dtype.name} | self._options()

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.options}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Make a metric from its config.

        Args:
            config: what `get_config` returned.

        Returns:
            A new metric.
        """
        return cls(**config)


class Sum(Metric):
    """The sum of all values, weighted.

    Args:
        Other arguments: see `Metric`.

    >>> print(Sum()([1.0, 2.0, 6.0], sample_weight=[1, 1, 0.5]))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """

    total: Variable

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total = self.add_weight("total")

    def update_state(self, values: TensorLike, sample_weight: TensorLike = None) -> None:
        """Take values into account.

        Args:
            values: a tensor of numbers.
            sample_weight: a scalar, or a weight for each value or each row of values; None for 1.

        Raises:
            ValueError: the weights' shape does not fit.
        """
        self._add(values, sample_weight)

    def _add(self, values: TensorLike, sample_weight: TensorLike) -> TensorLike:
        """Add the values, and tell the sum of their weights."""
        x = cast(values, self.dtype)
        weights = None if sample_weight is None else aligned(sample_weight, x)
        total, count = weighted_sum(f"Metric {self.name!r}", x, weights)
        self.total.assign_add(total)
        return count

    def result(self) -> Tensor:
        """The sum, a scalar."""
        return self.total.value()


class Mean(Sum):
    """The mean of all values, weighted; 0 while there are none.

    Args:
        Other arguments: see `Metric`.

    >>> mean = Mean()
    >>> mean.update_state([1.0, 2.0])
    >>> print(mean(6.0))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """

    count: Variable

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.count = self.add_weight("count")

    def update_state(self, values: TensorLike, sample_weight: TensorLike = None) -> None:
        """Take values into account. See `Sum.update_state`."""
        self.count.assign_add(self._add(values, sample_weight))

    def _add(self, values: TensorLike, sample_weight: TensorLike) -> TensorLike:
        """Add the values, of which there is one for each weight: means, where two or more axes are left."""
        x, rank = cast(values, self.dtype), 0 if sample_weight is None else convert_to_tensor(sample_weight).ndim
        rest = list(range(rank, x.ndim)) if rank and x.ndim - rank > 1 else []
        return super()._add(reduce_mean(x, rest) if rest else x, sample_weight)

    def result(self) -> Tensor:
        """The mean, a scalar; 0 while there are no values."""
        return div_no_nan(self.total.value(), self.count.value())


class FunctionMean(Mean):
    """Base of metrics that are the mean of a function of labels and predictions; further arguments are attributes."""

    function: ClassVar[Callable[..., Tensor]]

    def __init_subclass__(cls, *, function: Callable[..., Tensor] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if function is not None:
            cls.function = staticmethod(function)

    # It takes other arguments than a mean does, and is one all the same, as in TensorFlow.
    def update_state(  # type: ignore[override]
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike = None
    ) -> None:
        """Take labels and predictions into account; weights are a scalar, one for each example or value, or None."""
        values = type(self).function(*of_one_rank(y_true, y_pred), **self._options())
        self.count.assign_add(self._add(values, sample_weight))

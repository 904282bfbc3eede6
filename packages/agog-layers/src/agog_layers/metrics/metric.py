"""Metric: the base of metrics, accumulated over batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from agog_core import Tensor, TensorLike, Variable, convert_to_tensor
from agog_core.checkpointable import notify
from agog_core.errors import InvalidArgumentError
from agog_core.observers.summaries import registered_summaries
from agog_layers.metrics.state import State

__all__ = ["Metric"]

_NOT_IN_NAMES = r"[^A-Za-z0-9.]"


class Metric(State):
    """Base of metrics. Subclasses make their variables in `build`, update them in `call`, and give the `result`.

    Args:
        name: the metric's name; by default the class's.
    """

    def __init__(self, name: str | None = None, use_global_variables: bool = False) -> None:
        super().__init__()
        self.name = name or type(self).__name__
        self._built = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Take a batch into account, and return what `call` does; the first call makes the variables."""
        if not self._built:
            self.build(*args, **kwargs)
            self._built = True
            notify(self)
        return self.call(*args, **kwargs)

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Make the variables, with the arguments of the first call; subclasses say which."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Update the variables, and return the arguments; subclasses say how."""
        raise NotImplementedError(f"{type(self).__name__}.call is not implemented; it takes a batch into account.")

    def result(self) -> Any:
        """The metric of all that was seen, a tensor. The metrics here take ``write_summary=True`` as well."""
        raise NotImplementedError(
            f"{type(self).__name__}.result is not implemented; it computes the metric from the variables."
        )

    def value(self) -> Callable[..., Any]:
        """The function that computes the metric: the method `result`."""
        return self.result

    def init_variables(self) -> None:
        """Forget all that was seen."""
        self.set_back()

    def add_variable(self, name: str, shape: Any = (), dtype: Any = "float64", initializer: Any = "zeros") -> Variable:
        """Make a variable; only for `build`.

        Args:
            name: the variable's name, to which the metric's is prefixed.
            shape: the shape.
            dtype: the dtype.
            initializer: an initializer or its name.

        Returns:
            The variable.

        Raises:
            RuntimeError: it is called outside of `build`.
        """
        if self._built:
            raise RuntimeError(f"Metric {self.name!r}: add_variable can only be called in build().")
        path = f"{re.sub(_NOT_IN_NAMES, '_', self.name)}/{name}"
        return self.new_variable(name, path, shape, dtype, initializer)

    def aggregate(self, metrics: Sequence[Metric]) -> None:
        """Add the state of other metrics to this one's.

        Args:
            metrics: metrics of this class, with variables of the same names.

        Raises:
            TypeError: one is of another class.
            ValueError: the variables differ.
        """
        for metric in metrics:
            if type(metric) is not type(self):
                raise TypeError(
                    f"Metric {self.name!r}: aggregate takes metrics of type {type(self).__name__}; got "
                    f"{type(metric).__name__}."
                )
            if [v.name for v in metric.variables] != [v.name for v in self.variables]:
                theirs, ours = ([v.name for v in m.variables] for m in (metric, self))
                raise ValueError(
                    f"Metric {self.name!r}: aggregate takes metrics with the variables {ours}; got {theirs}."
                )
        # All are read before one is changed, since this metric may be among them.
        seen = [[variable.value() for variable in metric.variables] for metric in metrics]
        for values in seen:
            for variable, value in zip(self.variables, values, strict=True):
                variable.assign_add(value)

    def _with_summary(self, value: Tensor, write_summary: bool) -> Tensor:
        """The result, written as a summary where ``write_summary`` asks for it and it is a scalar."""
        if write_summary not in (True, False):
            raise ValueError(f"Metric {self.name!r}: write_summary must be True or False; got {write_summary!r}.")
        summaries = registered_summaries()
        if write_summary and summaries is not None and value.shape.ndims == 0:
            summaries.scalar(self.name, value)
        return value

    def _of_one_shape(self, labels: TensorLike, predictions: TensorLike) -> tuple[Tensor, Tensor]:
        y, x = convert_to_tensor(labels), convert_to_tensor(predictions)
        if y.shape != x.shape:
            raise InvalidArgumentError(
                f"Metric {self.name!r}: labels and predictions must be of one shape; got {y.shape} and {x.shape}."
            )
        return y, x


def arguments(labels: TensorLike, predictions: TensorLike, weights: TensorLike) -> tuple[TensorLike, ...]:
    """The result of a metric's `call`: its arguments.

    >>> arguments(1, 2, None)
    (1, 2)
    """
    return (labels, predictions) if weights is None else (labels, predictions, weights)

"""Input spec: the dtype and shape of a layer's inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_core import TensorShape, as_dtype, nest
from agog_core.settable import Settable, has_changed

__all__ = ["InputSpec"]


class InputSpec(Settable):
    """The dtype and shape of a layer's input, in its attribute ``input_spec``; calls are checked against it.

    Args:
        dtype: the dtype; None for any.
        shape: the shape, whose unknown sizes are any.
        ndim: the rank.
        max_ndim: the highest rank.
        min_ndim: the lowest rank.
        axes: the sizes of some axes, by their numbers.

    >>> InputSpec(ndim=2, axes={-1: 3})
    InputSpec(ndim=2, axes={-1: 3})
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Mapping[int, int | None] | None = None,
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = dict(axes or {})

    def __repr__(self) -> str:
        parts = [f"{name}={value!r}" for name, value in vars(self).items() if value is not None and value != {}]
        return f"InputSpec({', '.join(parts)})"

    def _misfit(self, tensor: Any) -> str | None:
        """The violated expectation for a tensor, such as ``"ndim=2"``; None if it fits."""
        sizes, rank = tensor.shape.as_list(), len(tensor.shape)
        if self.ndim is not None and rank != self.ndim:
            return f"ndim={self.ndim}"
        if self.max_ndim is not None and rank > self.max_ndim:
            return f"max_ndim={self.max_ndim}"
        if self.min_ndim is not None and rank < self.min_ndim:
            return f"min_ndim={self.min_ndim}"
        if self.dtype is not None and tensor.dtype != as_dtype(self.dtype):
            return f"dtype={as_dtype(self.dtype).name}"
        for axis, size in self.axes.items():
            if size is not None and sizes[axis] not in (size, None):
                return f"axis {axis} of size {size}"
        if self.shape is not None and not TensorShape(self.shape).is_compatible_with(tensor.shape):
            return f"shape={TensorShape(self.shape)}"
        return None


class Specified:
    """The part of layers about `InputSpec`."""

    _input_spec: Any = None

    @property
    def _title(self) -> str:
        return type(self).__name__

    @property
    def input_spec(self) -> Any:
        """The spec for checks of each call's inputs: an `InputSpec`, a list of them, or None."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, spec: Any) -> None:
        vars(self).update(_input_spec=spec)
        has_changed(self, "_input_spec")
        self._count_calls()

    def _count_calls(self) -> None:
        raise NotImplementedError

    def _check_spec(self, inputs: Any) -> None:
        """Raise a ValueError when inputs do not fit what was said of them."""
        if self._input_spec is None:
            return
        specs, tensors = nest.flatten(self._input_spec), nest.flatten(inputs)
        if len(specs) != len(tensors):
            raise ValueError(f"{self._title} expects {len(specs)} inputs, but it received {len(tensors)}.")
        for place, (spec, tensor) in enumerate(zip(specs, tensors, strict=True)):
            expected = None if spec is None else spec._misfit(tensor)
            if expected is not None:
                raise ValueError(
                    f"Input {place} of {self._title} is incompatible with the layer: expected {expected}, found "
                    f"ndim={len(tensor.shape)}, shape={tensor.shape}, dtype={tensor.dtype.name}."
                )

"""Numbers: layers that scale, normalize or discretize numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agog_core import (
    Tensor,
    TensorShape,
    Variable,
    cast,
    constant,
    convert_to_tensor,
    maximum,
    reduce_mean,
    reshape,
    searchsorted,
    sqrt,
    square,
)
from agog_keras.layers.adaptation import Adaptable, Preprocessing
from agog_keras.layers.encoding import encoded
from agog_layers.arguments.checks import integer

__all__ = ["Discretization", "Normalization", "Rescaling"]

# What the standard deviation is at least.
_EPSILON = 1e-7


class Rescaling(Preprocessing):
    """``inputs * scale + offset``, in float32.

    Args:
        scale: a number, or numbers that broadcast to the input.
        offset: the same.
        **kwargs: further arguments of `Layer`.

    >>> print(Rescaling(1 / 255)([0, 255]))
    tf.Tensor([0. 1.], shape=(2,), dtype=float32)
    """

    def __init__(self, scale: Any, offset: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset

    def call(self, inputs: Tensor) -> Tensor:
        """Scale and shift."""
        dtype = self._dtype or "float32"
        return cast(inputs, dtype) * cast(self.scale, dtype) + cast(self.offset, dtype)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


class Normalization(Adaptable):
    """Bring numbers to mean 0 and variance 1: those that `adapt` found in data, or that are given.

    Args:
        axis: the axis, or axes, that keep a mean and a variance for each of their elements; None for one of each.
        mean: the mean, with ``variance`` in place of `adapt`.
        variance: the variance.
        invert: whether to go back, from mean 0 and variance 1.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: one of mean and variance is given without the other.

    >>> layer = Normalization()
    >>> layer.adapt([[1.0], [3.0]])
    >>> print(layer([[3.0], [2.0]]))
    tf.Tensor(
    [[1.]
     [0.]], shape=(2, 1), dtype=float32)
    """

    mean: Variable
    variance: Variable
    count: Variable

    def __init__(
        self,
        axis: int | Sequence[int] | None = -1,
        mean: Any = None,
        variance: Any = None,
        invert: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if (mean is None) != (variance is None):
            raise ValueError(f"{self._title}: mean and variance go together; got {mean!r} and {variance!r}.")
        self.axis, self.input_mean, self.input_variance, self.invert = axis, mean, variance, invert

    def _described(self, name: str) -> Any:
        return super()._described(f"input_{name}" if name in ("mean", "variance") else name)

    def build(self, input_shape: Any) -> None:
        """Make the mean, the variance and the count of examples."""
        sizes = TensorShape(input_shape).as_list()
        axes = [] if self.axis is None else [self.axis] if isinstance(self.axis, int) else list(self.axis)
        self._kept = sorted(axis % len(sizes) for axis in axes)
        if 0 in self._kept:
            raise ValueError(f"{self._title}: axis 0 counts examples; got axis={self.axis} for shape {input_shape}.")
        shape = [sizes[axis] for axis in self._kept]
        self._broadcast = [size if axis in self._kept else 1 for axis, size in enumerate(sizes)]
        for name, initial in (("mean", "zeros"), ("variance", "ones")):
            setattr(self, name, self.add_weight(name, shape, "float32", initial, trainable=False))
        self.count = self.add_weight("count", (), "int64", "zeros", trainable=False)
        if self.input_mean is not None:
            self.mean.assign(self.mean.value() * 0.0 + cast(self.input_mean, "float32"))
            self.variance.assign(self.variance.value() * 0.0 + cast(self.input_variance, "float32"))
        self.built = True

    def reset_state(self) -> None:
        if self.input_mean is not None:
            raise ValueError(
                f"{self._title}: mean and variance were given, so there is nothing to adapt; leave them out."
            )
        if self.built:
            self.count.assign(0)

    def update_state(self, data: Tensor) -> None:
        """Look at a batch; the moments of all batches are joined as those of one."""
        if not self.built:
            self._build_for(data, [data])
        x = cast(data, "float64")
        over = [axis for axis in range(len(x._shape)) if axis not in self._kept]
        mean = reduce_mean(x, over)
        spread = reduce_mean(square(x - reshape(mean, self._broadcast)), over)
        before, here = int(self.count), math.prod(x._shape[axis] for axis in over)
        share = here / max(1, before + here)
        old, old_spread = cast(self.mean.value(), "float64"), cast(self.variance.value(), "float64")
        distance = mean - old
        joined = old_spread * (1 - share) + spread * share + square(distance) * (share * (1 - share))
        self.mean.assign(cast(old + distance * share, "float32"))
        self.variance.assign(cast(joined if before else spread, "float32"))
        self.count.assign(before + here)

    def call(self, inputs: Tensor) -> Tensor:
        """Take the mean off, and divide by the standard deviation."""
        x = cast(inputs, "float32")
        mean = reshape(self.mean.value(), self._broadcast)
        deviation = maximum(sqrt(reshape(self.variance.value(), self._broadcast)), _EPSILON)
        return mean + x * deviation if self.invert else (x - mean) / deviation

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


class Discretization(Adaptable):
    """Say which range numbers are in: 0 below the first boundary, 1 from it up to the second, and so on.

    Args:
        bin_boundaries: the boundaries, which increase; None for those that `adapt` finds.
        num_bins: how many ranges `adapt` makes, of about equally many numbers each.
        epsilon: not needed: the quantiles are exact.
        output_mode: ``"int"``, ``"one_hot"``, ``"multi_hot"`` or ``"count"``; see `CategoryEncoding`.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: neither boundaries nor a number of ranges is given, or both.

    >>> print(Discretization([0.0, 10.0])([-1.0, 0.0, 12.0]))
    tf.Tensor([0 1 2], shape=(3,), dtype=int64)
    """

    def __init__(
        self,
        bin_boundaries: Sequence[float] | None = None,
        num_bins: int | None = None,
        epsilon: float = 0.01,
        output_mode: str = "int",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._by_number = bin_boundaries is None
        if self._by_number == (num_bins is None):
            raise ValueError(f"{self._title}: give bin_boundaries, or num_bins and call adapt.")
        self.num_bins = None if num_bins is None else integer("Discretization", "num_bins", num_bins)
        self.bin_boundaries = None if bin_boundaries is None else [float(each) for each in bin_boundaries]
        self.epsilon, self.output_mode = epsilon, output_mode
        self._seen: list[float] = []

    def get_config(self) -> dict[str, Any]:
        """See `Layer.get_config`; the boundaries that were found are in place of their number."""
        found = {"num_bins": None} if self.bin_boundaries is not None else {}
        return super().get_config() | found

    def reset_state(self) -> None:
        if not self._by_number:
            raise ValueError(f"{self._title}: bin_boundaries were given, so there is nothing to adapt; give num_bins.")
        vars(self)["_seen"] = []

    def update_state(self, data: Tensor) -> None:
        self._seen.extend(reshape(cast(data, "float64"), [-1]).numpy().tolist())

    def finalize_state(self) -> None:
        """Find the quantiles."""
        numbers, bins = sorted(self._seen), self.num_bins or 1
        places = [(len(numbers) - 1) * n / bins for n in range(1, bins)]
        self.bin_boundaries = [
            numbers[int(place)] + (numbers[math.ceil(place)] - numbers[int(place)]) * (place % 1) for place in places
        ]
        vars(self)["_seen"] = []

    def call(self, inputs: Tensor) -> Tensor:
        """Find the ranges."""
        if self.bin_boundaries is None:
            raise RuntimeError(f"{self._title} has no boundaries yet: call adapt on data, or give bin_boundaries.")
        x = cast(convert_to_tensor(inputs), "float32")
        flat = searchsorted(constant(self.bin_boundaries, "float32"), reshape(x, [-1]), side="right", out_type="int64")
        return encoded(reshape(flat, x._shape), self.output_mode, len(self.bin_boundaries) + 1)

    def checkpoint_state(self) -> dict[str, Any]:
        return {"bin_boundaries": self.bin_boundaries}

    def restore_checkpoint_state(self, state: Any) -> None:
        self.bin_boundaries = state["bin_boundaries"]

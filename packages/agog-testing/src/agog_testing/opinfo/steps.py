"""Steps: samples and errors of the steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from agog_testing.opinfo.info import ErrorSample, OpInfo, Sample, Sized
from agog_testing.opinfo.values import Rng, constant, invalid, is_float, uniform

# The last one is longer than a kernel that works in pieces is likely to take at once.
_SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (2, 3), (0,), (67,), (140_001,))
# Steps round after each operation.
_TOLERANCES = {"float16": (1e-2, 1e-2), "bfloat16": (1e-1, 1e-1), "float32": (1e-5, 1e-5), "float64": (1e-12, 1e-12)}

Attributes = Mapping[str, Any]


def step_info(
    name: str,
    reference: Callable[..., Any],
    count: int,
    *attributes: Attributes,
    positive: tuple[int, ...] = (),
    samples: Callable[[str, Rng], Iterator[Sample]] | None = None,
) -> OpInfo:
    """Facts about a step that takes ``count`` arrays, the variable first and the gradient last; each mapping of
    attributes makes samples. Some arrays are positive, as sums of squares are.
    """
    return OpInfo(
        name=name,
        samples=samples or step_samples(count, *attributes, positive=positive),
        sized=_step_sized(count, attributes[0], positive),
        reference=reference,
        differentiable=False,
        errors=_errors(name, count, attributes[0]),
        tolerances=_TOLERANCES,
    )


def step_samples(
    count: int, *attributes: Attributes, positive: tuple[int, ...] = ()
) -> Callable[[str, Rng], Iterator[Sample]]:
    """Samples of a step: see `step_info`."""

    def samples(dtype: str, rng: Rng) -> Iterator[Sample]:
        for shape in _SHAPES:
            for kwargs in attributes if shape == (2, 3) else attributes[:1]:
                arrays = [uniform(dtype, rng, shape, 0.1 if n in positive else -3) for n in range(count)]
                yield Sample(f"shape {shape}, {kwargs}", tuple(arrays), kwargs)
        if is_float(dtype):
            special = [constant(dtype, [1.0, 1.0]) for _ in range(count - 1)]
            yield Sample("NaN and infinite gradients", (*special, constant(dtype, [np.nan, np.inf])), attributes[0])

    return samples


def _step_sized(count: int, kwargs: Attributes, positive: tuple[int, ...]) -> Sized:
    def sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
        arrays = [uniform(dtype, rng, (size,), 0.1 if n in positive else -3) for n in range(count)]
        yield Sample(f"shape {(size,)}", tuple(arrays), kwargs)

    return sized


def _errors(op: str, count: int, kwargs: Attributes) -> tuple[ErrorSample, ...]:
    same = [np.ones(2, np.float32)] * (count - 1)
    last = "delta" if op == "apply_add" else "gradient"
    return (
        invalid(
            (*same, np.ones(3, np.float32)),
            f"{op}: {last} has shape (3,); variable 'Variable:0' has shape (2,).",
            **kwargs,
        ),
        invalid(
            (*same, np.ones(2)),
            f"{op}: variable has dtype float32 and {last} has dtype float64 (shapes (2,) and (2,)), but they must be "
            f"of one dtype; cast one of them, such as tf.cast({last}, tf.float32).",
            **kwargs,
        ),
    )

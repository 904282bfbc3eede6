"""Reduce: counterparts of sums, means, extrema and scans along axes."""

from __future__ import annotations

from typing import Any

import torch
from counterparts.counterpart import axes_of, transposed


def reduced(reduce: Any) -> Any:
    """A reduction with the arguments of agog's, from one over a tuple of axes."""

    def function(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
        axes = tuple(dict.fromkeys(axes_of(input_tensor, axis)))  # PyTorch takes each once
        return reduce(input_tensor, axes, bool(keepdims)) if axes else input_tensor * 1

    return function


def one_by_one(reduce: Any) -> Any:
    """A reduction over a tuple of axes from one over a single axis."""

    def function(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
        for axis in reversed(axes):
            x = reduce(x, axis, keepdims)
        return x

    return function


def scan(run: Any, neutral: int) -> Any:
    """A running sum or product with the arguments of agog's."""

    def function(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Any:
        x = x.flip(axis) if reverse else x
        if exclusive and x.shape[axis]:
            x = torch.cat([torch.full_like(x.narrow(axis, 0, 1), neutral), x.narrow(axis, 0, x.shape[axis] - 1)], axis)
        out = run(x, axis)
        return out.flip(axis) if reverse else out

    return function


def linear_recurrence(factors: Any, terms: Any, axis: int = 0, reverse: bool = False) -> Any:
    rows = list(zip(factors.unbind(axis), terms.unbind(axis), strict=True))
    out: list[Any] = []
    for factor, term in reversed(rows) if reverse else rows:
        out.append(term + factor * out[-1] if out else term)
    return torch.stack(out[::-1] if reverse else out, axis) if out else terms * 1


def reduce_extremum_grad(gradients: Any, input_tensor: Any, output: Any, axes: Any) -> Any:
    shape = [1 if n in axes else size for n, size in enumerate(input_tensor.shape)]
    equal = input_tensor == torch.as_tensor(output).reshape(shape)
    count = equal.sum(axes, keepdim=True) if axes else equal.sum() * 0 + 1
    return equal * (gradients.reshape(shape) / count)


def spread(reduce: Any) -> Any:
    """The gradient of a reduction."""
    return lambda gradients, shape, axes, keepdims: (
        transposed(lambda x: reduce(x, axes, keepdims) if axes else x * 1, shape, gradients)
        if gradients.is_floating_point() or gradients.is_complex()
        else (gradients.reshape([1 if n in axes else size for n, size in enumerate(shape)]).expand(shape))
    )


COUNTERPARTS = {
    "argmax": lambda input, axis=None, output_type=None: torch.argmax(input, axis or 0),
    "argmin": lambda input, axis=None, output_type=None: torch.argmin(input, axis or 0),
    "cumprod": scan(torch.cumprod, 1),
    "cumsum": scan(torch.cumsum, 0),
    "linear_recurrence": linear_recurrence,
    "reduce_all": reduced(torch.all),
    "reduce_any": reduced(torch.any),
    "reduce_extremum_grad": reduce_extremum_grad,
    "reduce_logsumexp": reduced(torch.logsumexp),
    "reduce_max": reduced(torch.amax),
    "reduce_mean": reduced(torch.mean),
    "reduce_mean_grad": spread(torch.mean),
    "reduce_min": reduced(torch.amin),
    "reduce_prod": reduced(one_by_one(torch.prod)),
    "reduce_sum": reduced(torch.sum),
    "reduce_sum_grad": spread(torch.sum),
    "sum_to": lambda input, shape: input.sum_to_size(tuple(shape)),
}

"""Random programs in agog and in PyTorch: values, gradients, and products of second derivatives with vectors.

A program is a list of steps on float64 tensors, drawn from a seed, which is in the test's id and in its message.
Programs of `agog_testing.random_programs` are Python source with branches, variables and tapes of TensorFlow; steps
here have a counterpart in each library.
AGOG_RANDOM_PROGRAMS sets how many there are, AGOG_RANDOM_SEED where they begin.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import agog_core as ag

COUNT = int(os.environ.get("AGOG_RANDOM_PROGRAMS", "2000"))
FIRST = int(os.environ.get("AGOG_RANDOM_SEED", "0"))
PROGRAMS_PER_TEST = 50

Shape = tuple[int, ...]
Random = np.random.Generator


class Step(NamedTuple):
    """One step: what it is called, the positions of its operands, and what it does in each library."""

    name: str
    operands: tuple[int, ...]
    in_agog: Callable[..., Any]
    in_torch: Callable[..., Any]


# Smooth everywhere, or with kinks that random values do not hit; none leaves the numbers that float64 holds well.
ELEMENTWISE: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sin": (ag.sin, torch.sin),
    "cos": (ag.cos, torch.cos),
    "atan": (ag.atan, torch.atan),
    "tanh": (ag.tanh, torch.tanh),
    "sigmoid": (ag.sigmoid, torch.sigmoid),
    "erf": (ag.erf, torch.erf),
    "softplus": (ag.nn.softplus, torch.nn.functional.softplus),
    "exp of tanh": (lambda x: ag.exp(ag.tanh(x)), lambda x: torch.exp(torch.tanh(x))),
    "log of 1 + square": (lambda x: ag.log1p(ag.square(x)), lambda x: torch.log1p(torch.square(x))),
    "sqrt of 1 + square": (lambda x: ag.sqrt(1 + x * x), lambda x: torch.sqrt(1 + x * x)),
    "rsqrt of 2 + sin": (lambda x: ag.rsqrt(2 + ag.sin(x)), lambda x: torch.rsqrt(2 + torch.sin(x))),
    "power of 2 + cos": (lambda x: ag.pow(2 + ag.cos(x), 1.7), lambda x: torch.pow(2 + torch.cos(x), 1.7)),
    "abs": (ag.abs, torch.abs),
    "relu": (ag.nn.relu, torch.relu),
    "elu": (ag.nn.elu, torch.nn.functional.elu),
    "selu": (ag.nn.selu, torch.selu),
    "leaky_relu": (lambda x: ag.nn.leaky_relu(x, 0.2), lambda x: torch.nn.functional.leaky_relu(x, 0.2)),
    "swish": (ag.nn.swish, torch.nn.functional.silu),
    "clip": (lambda x: ag.clip_by_value(x, -1.5, 1.5), lambda x: torch.clamp(x, -1.5, 1.5)),
    "negative": (ag.negative, torch.neg),
}
PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (ag.add, torch.add),
    "subtract": (ag.subtract, torch.sub),
    "multiply": (lambda x, y: ag.tanh(x) * y, lambda x, y: torch.tanh(x) * y),
    "divide": (lambda x, y: x / (1.5 + ag.sin(y)), lambda x, y: x / (1.5 + torch.sin(y))),
    "maximum": (ag.maximum, torch.maximum),
    "minimum": (ag.minimum, torch.minimum),
    "squared_difference": (
        lambda x, y: ag.squared_difference(ag.tanh(x), ag.tanh(y)),
        lambda x, y: torch.square(torch.tanh(x) - torch.tanh(y)),
    ),
    "atan2": (lambda x, y: ag.atan2(x, 3 + ag.cos(y)), lambda x, y: torch.atan2(x, 3 + torch.cos(y))),
}
REDUCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "reduce_sum": (ag.reduce_sum, lambda x, axis, keepdims: torch.sum(x, axis, keepdim=keepdims)),
    "reduce_mean": (ag.reduce_mean, lambda x, axis, keepdims: torch.mean(x, axis, keepdim=keepdims)),
    "reduce_max": (ag.reduce_max, lambda x, axis, keepdims: torch.amax(x, axis, keepdim=keepdims)),
    "reduce_min": (ag.reduce_min, lambda x, axis, keepdims: torch.amin(x, axis, keepdim=keepdims)),
    "reduce_logsumexp": (ag.reduce_logsumexp, lambda x, axis, keepdims: torch.logsumexp(x, axis, keepdim=keepdims)),
}


def elementwise(random: Random, shapes: list[Shape]) -> Step:
    name = str(random.choice(list(ELEMENTWISE)))
    return Step(name, (int(random.integers(len(shapes))),), *ELEMENTWISE[name])


def pair(random: Random, shapes: list[Shape]) -> Step | None:
    first = int(random.integers(len(shapes)))
    fitting = [n for n, shape in enumerate(shapes) if broadcasts(shapes[first], shape)]
    name = str(random.choice(list(PAIRS)))
    return Step(name, (first, int(random.choice(fitting))), *PAIRS[name])


def broadcasts(x: Shape, y: Shape) -> bool:
    try:
        np.broadcast_shapes(x, y)
    except ValueError:
        return False
    return True


def reduction(random: Random, shapes: list[Shape]) -> Step | None:
    operand = int(random.integers(len(shapes)))
    if not shapes[operand]:
        return None
    rank, keepdims = len(shapes[operand]), bool(random.integers(2))
    axes = tuple(sorted(random.choice(rank, int(random.integers(1, rank + 1)), replace=False).tolist()))
    name = str(random.choice(list(REDUCTIONS)))
    in_agog, in_torch = REDUCTIONS[name]
    return Step(
        f"{name} {axes} {keepdims}",
        (operand,),
        lambda x: in_agog(x, axes, keepdims=keepdims),
        lambda x: in_torch(x, axes, keepdims),
    )


def along_axis(random: Random, shapes: list[Shape]) -> Step | None:
    operand = int(random.integers(len(shapes)))
    if not shapes[operand]:
        return None
    axis = int(random.integers(len(shapes[operand])))
    size, shift = shapes[operand][axis], int(random.integers(-3, 4))
    rows = random.integers(size, size=4).tolist()
    steps = [
        ("softmax", lambda x: ag.nn.softmax(x, axis=axis), lambda x: torch.softmax(x, axis)),
        ("log_softmax", lambda x: ag.nn.log_softmax(x, axis=axis), lambda x: torch.log_softmax(x, axis)),
        ("cumsum", lambda x: ag.cumsum(x, axis), lambda x: torch.cumsum(x, axis)),
        ("reverse", lambda x: ag.reverse(x, [axis]), lambda x: torch.flip(x, (axis,))),
        (f"roll {shift}", lambda x: ag.roll(x, shift, axis), lambda x: torch.roll(x, shift, axis)),
        (f"gather {rows}", lambda x: ag.gather(x, rows, axis=axis), lambda x: torch.index_select(x, axis, ints(rows))),
        ("sort", lambda x: ag.sort(x, axis), lambda x: torch.sort(x, axis).values),
        ("expand_dims", lambda x: ag.expand_dims(x, axis), lambda x: torch.unsqueeze(x, axis)),
        ("stack", lambda x: ag.stack([x, ag.sin(x)], axis), lambda x: torch.stack([x, torch.sin(x)], axis)),
        ("concat", lambda x: ag.concat([x, ag.cos(x)], axis), lambda x: torch.cat([x, torch.cos(x)], axis)),
    ]
    name, in_agog, in_torch = steps[int(random.integers(len(steps)))]
    return Step(f"{name} on axis {axis}", (operand,), in_agog, in_torch)


def ints(values: list[int]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64)


def rearrangement(random: Random, shapes: list[Shape]) -> Step | None:
    operand = int(random.integers(len(shapes)))
    shape = shapes[operand]
    order = random.permutation(len(shape)).tolist()
    starts = tuple(
        slice(int(random.integers(2)) if size > 1 else 0, None, int(random.integers(1, 3))) for size in shape
    )
    border = [(int(random.integers(2)), int(random.integers(2))) for _ in shape]
    flat_border = [size for ends in reversed(border) for size in ends]
    condition = random.integers(2, size=shape).astype(bool)
    steps = [
        (f"transpose {order}", lambda x: ag.transpose(x, order), lambda x: torch.permute(x, order)),
        ("flatten", lambda x: ag.reshape(x, [-1]), lambda x: torch.reshape(x, (-1,))),
        (f"slice {starts}", lambda x: x[starts], lambda x: x[starts]),
        (f"pad {border}", lambda x: ag.pad(x, border), lambda x: torch.nn.functional.pad(x, flat_border)),
        (
            "where",
            lambda x: ag.where(ag.constant(condition), ag.sin(x), x),
            lambda x: torch.where(torch.from_numpy(condition), torch.sin(x), x),
        ),
    ]
    name, in_agog, in_torch = steps[int(random.integers(len(steps))) if shape else 1]
    return Step(name, (operand,), in_agog, in_torch)


def product(random: Random, shapes: list[Shape]) -> Step | None:
    matrices = [n for n, shape in enumerate(shapes) if len(shape) == 2]
    fitting = [(x, y) for x in matrices for y in matrices if shapes[x][1] == shapes[y][1]]
    if not fitting:
        return None
    x, y = fitting[int(random.integers(len(fitting)))]
    return Step(
        "matmul",
        (x, y),
        lambda x, y: ag.matmul(ag.tanh(x), y, transpose_b=True),
        lambda x, y: torch.tanh(x) @ y.T,
    )


KINDS = (elementwise, elementwise, pair, pair, reduction, along_axis, along_axis, rearrangement, product)


def program(seed: int) -> tuple[list[np.ndarray[Any, Any]], list[Step]]:
    """The inputs and the steps that a seed stands for; the values of earlier steps are operands of later ones."""
    random = np.random.default_rng(seed)
    inputs = [
        random.normal(size=tuple(random.integers(1, 4, size=int(random.integers(4))).tolist()))
        for _ in range(int(random.integers(1, 4)))
    ]
    values = [torch.from_numpy(np.asarray(array)) for array in inputs]
    steps: list[Step] = []
    while len(steps) < int(random.integers(3, 12)) or not steps:
        made = KINDS[int(random.integers(len(KINDS)))](random, [tuple(value.shape) for value in values])
        if made is None:
            continue
        value = made.in_torch(*(values[n] for n in made.operands))
        if 0 < value.numel() <= 256 and value.ndim <= 5:
            steps.append(made)
            values.append(value)
    return inputs, steps


def loss(inputs: list[Any], steps: list[Step], run: Callable[[Step], Callable[..., Any]], total: Any, tanh: Any) -> Any:
    """A number that depends on all that the program computes, with other weights for each value."""
    values = list(inputs)
    for step in steps:
        values.append(run(step)(*(values[n] for n in step.operands)))
    return sum(total(tanh(value)) * (1.0 + 0.1 * n) for n, value in enumerate(values[len(inputs) :]))


def by_agog(inputs: list[np.ndarray[Any, Any]], steps: list[Step]) -> list[Any]:
    """The value, the gradients, and the derivatives of a weighted sum of the gradients."""
    x = [ag.constant(array) for array in inputs]
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape() as tape:
            tape.watch(x)
            value = loss(x, steps, lambda step: step.in_agog, ag.reduce_sum, ag.tanh)
        first = [zero_for(g, each) for g, each in zip(tape.gradient(value, x), x, strict=True)]
        mixed = ag.add_n([ag.reduce_sum(ag.sin(g)) for g in first])
    second = [zero_for(g, each) for g, each in zip(outer.gradient(mixed, x), x, strict=True)]
    return [result.numpy() for result in (value, *first, *second)]


def zero_for(gradient: Any, like: ag.Tensor) -> Any:
    return ag.zeros_like(like) if gradient is None else ag.convert_to_tensor(gradient)


def by_torch(inputs: list[np.ndarray[Any, Any]], steps: list[Step]) -> list[Any]:
    """The same by PyTorch."""
    x = [torch.tensor(array, requires_grad=True) for array in inputs]
    value = loss(x, steps, lambda step: step.in_torch, torch.sum, torch.tanh)
    first = torch.autograd.grad(value, x, create_graph=True, materialize_grads=True)
    mixed = torch.stack([torch.sum(torch.sin(g)) for g in first]).sum()
    if not mixed.requires_grad:
        second: Any = [torch.zeros_like(each) for each in x]
    else:
        second = torch.autograd.grad(mixed, x, materialize_grads=True)
    return [result.detach().numpy() for result in (value, *first, *second)]


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, PROGRAMS_PER_TEST))
def test_random_programs_agree_in_value_and_both_derivatives(first: int) -> None:
    for seed in range(first, min(first + PROGRAMS_PER_TEST, FIRST + COUNT)):
        inputs, steps = program(seed)
        text = f"seed {seed}: " + "; ".join(f"{step.name}{step.operands}" for step in steps)
        ours, theirs = by_agog(inputs, steps), by_torch(inputs, steps)
        for number, (x, y) in enumerate(zip(ours, theirs, strict=True)):
            # Sums of up to 256 terms in another order, through up to 11 steps and two derivatives.
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9, err_msg=f"result {number} of {text}")

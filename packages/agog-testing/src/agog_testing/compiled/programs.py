"""Programs: random functions of tensors and variables, traced and run beside the same functions run eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import nn
from agog_core.tracing.function import function
from agog_testing.compiled.calls import RULE, are_equal
from agog_testing.subject import Violation

_SHAPES = ((), (3,), (4, 3), (1, 3), (4, 1), (2, 4, 3), (700,), (2, 700), (5, 40))
_UNARY: tuple[Callable[[Any], Any], ...] = (
    *(ag.tanh, ag.exp, nn.relu, ag.sigmoid, ag.square, ag.abs, ag.negative, nn.softplus, ag.sign, nn.elu, nn.relu6),
    *(
        lambda x: ag.sqrt(ag.abs(x)),
        lambda x: 1.0 - x,
        lambda x: x * 2.5,
        lambda x: ag.cast(ag.cast(x, "float64"), x.dtype),
    ),
)
_BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    *(ag.add, ag.subtract, ag.multiply, ag.maximum, ag.minimum, ag.squared_difference),
    lambda a, b: a / (ag.abs(b) + 1.0),
    lambda a, b: ag.where(ag.greater(a + b, b), a + b, a - b),
)
_CALLS = (0, 1, 2, 0)


def check_program(number: int) -> None:
    """Run the random program of a number eagerly and traced, four times each with three sets of arguments, and compare
    its results and its variables bit by bit.
    """
    expected, got = _results(number, lambda f: f), _results(number, function)
    for place, (want, have) in enumerate(zip(expected, got, strict=True)):
        if (want.dtype, want.shape) != (have.dtype, have.shape) or not are_equal(want, have):
            raise Violation(RULE, f"random program {number}, result {place}", repr(want), repr(have))


def _results(number: int, wrap: Callable[[Any], Any]) -> list[Any]:
    random = np.random.RandomState(number)
    dtype = "float64" if number % 5 == 0 else "float32"
    plan = [tuple(random.randint(0, 1 << 30, 4)) for _ in range(random.randint(5, 40))]
    shapes = [_SHAPES[random.randint(len(_SHAPES))] for _ in range(4)]
    variables = [ag.Variable(np.asarray(random.randn(*shape), dtype)) for shape in shapes[2:]]
    calls = [[np.asarray(random.randn(*shape), dtype) for shape in shapes[:2]] for _ in range(3)]
    run = wrap(lambda *inputs: _run(plan, list(inputs), variables, has_gradients=bool(number % 2)))
    found: list[Any] = []
    for call in _CALLS:
        found += [np.array(tensor.numpy()) for tensor in run(*map(ag.constant, calls[call]))]
        found += [np.array(variable.numpy()) for variable in variables]
    return found


def _run(plan: list[Any], inputs: list[Any], variables: list[Any], has_gradients: bool) -> list[Any]:
    pool = [*inputs, *[variable.value() for variable in variables]]
    with ag.GradientTape() as tape:
        for x in inputs:
            tape.watch(x)
        for step in plan:
            pool.append(_step(step, pool, variables))
        loss = ag.reduce_sum(pool[-1]) + ag.reduce_sum(pool[-2])
    results = pool[-4:]
    if has_gradients:
        gradients = tape.gradient(loss, [*inputs, *variables])
        results += [ag.zeros([1]) if gradient is None else gradient for gradient in gradients]
    return results


def _step(step: Any, pool: list[Any], variables: list[Any]) -> Any:
    kind, first, second, which = (int(each) for each in step)
    x, z = pool[first % len(pool)], pool[second % len(pool)]
    rank = len(x.shape)
    match kind % 18:
        case 0 | 1 | 2 | 3 | 4:
            y = _UNARY[which % len(_UNARY)](ag.minimum(x, 5.0))
        case 5 | 6 | 7 | 8:
            y = _BINARY[which % len(_BINARY)](x, z if _broadcast(x, z) else x)
        case 9:
            y = ag.transpose(x)
        case 10:
            y = ag.reduce_sum(x, -1, keepdims=bool(which & 1)) if rank else x
        case 11:
            y = ag.reduce_max(x, -1, keepdims=True) if rank else x
        case 12:
            y = ag.reduce_mean(x)
        case 13:
            y = x[..., 1 - which % 2 : 2] if rank and x.shape[-1] > 2 else x
        case 14:
            y = nn.softmax(x) if rank else x
        case 15:
            y = ag.matmul(x, z, transpose_b=True) if rank == 2 and x.shape[1:] == z.shape[1:] else ag.reshape(x, [-1])
        case 16:
            y = ag.concat([x, x * 2.0], -1) if rank else x
        case _:
            y = _assigned(variables[first % len(variables)], z, which)
    return ag.maximum(ag.minimum(y, 50.0), -50.0) if which % 5 == 0 or kind % 18 > 13 else y


def _broadcast(x: Any, z: Any) -> bool:
    try:
        np.broadcast_shapes(tuple(x.shape), tuple(z.shape))
    except ValueError:
        return False
    return True


def _assigned(variable: Any, z: Any, which: int) -> Any:
    if z.shape == variable.shape:
        value = ag.minimum(ag.maximum(z, -3.0), 3.0)
        (variable.assign_add, variable.assign, variable.assign_sub)[which % 3](value)
    return variable.value()

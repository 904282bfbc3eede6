"""Tracing: every op and its gradient give eager bits in a traced function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import nest
from agog_core.tracing.functions.function import function
from agog_testing.opinfo import OpInfo, Sample
from agog_testing.subject import map_arrays


def differences(
    info: OpInfo, dtype: str, device: str | None = None, outside: bool = False, wrap: Callable[[Any], Any] = function
) -> Iterator[str]:
    """The differences of an op's samples in a traced function: at the first call, and later with others.

    The tape for the gradient is in the function, or ``outside`` of it.
    """
    seeds = [list(info.samples(dtype, np.random.default_rng(seed))) for seed in (0, 1)]
    for first, second in zip(*seeds, strict=True):
        call = _Call(info, first, device)
        eager: Callable[..., Any] = call
        traced = wrap(call)
        if outside:
            eager, traced = partial(call.with_gradient, call.result), partial(call.with_gradient, wrap(call.result))
        for sample in (first, first, second):
            expected, got = _outcome(call, eager, sample), _outcome(call, traced, sample)
            if expected != got:
                yield f"{info.name}, {dtype}, {sample.name}: {_shown(expected)} eagerly, {_shown(got)} traced"
                break


class _Call:
    """A call of an op, and of its gradient if it has one, as a function of tensors alone."""

    def __init__(self, info: OpInfo, sample: Sample, device: str | None) -> None:
        self.info = info
        self.device = device
        self.variables: dict[Any, ag.Variable] = {}
        self.sample = sample

    def tensors(self, sample: Sample) -> list[ag.Tensor]:
        found: list[ag.Tensor] = []
        with ag.device(self.device):
            for value in (*sample.args, *sample.kwargs.values()):
                map_arrays(lambda array: found.append(ag.constant(array)), value)
        return found

    def __call__(self, *tensors: ag.Tensor) -> Any:
        op = self.info.op
        if not op.is_differentiable or op.updates or (op.name.endswith("_grad") and not self.sample.smooth):
            return self.result(*tensors)
        return self.with_gradient(self.result, *tensors)

    def with_gradient(self, result_of: Callable[..., Any], *tensors: ag.Tensor) -> Any:
        """The results, and their gradients."""
        sources = [tensor for tensor in tensors if tensor.dtype.is_differentiable]
        with ag.GradientTape() as tape:
            tape.watch(sources)
            result = result_of(*tensors)
        return result, [g for g in tape.gradient(result, sources) if g is not None]

    def result(self, *tensors: ag.Tensor) -> Any:
        """The results, or the new values of variables."""
        rest, names = iter(tensors), iter(self.info.op.inputs)
        variables: list[ag.Variable] = []

        def given(array: Any) -> Any:
            tensor = next(rest)
            if next(names, None) not in self.info.op.updates:
                return tensor
            variables.append(self.variable(len(variables), tensor))
            return variables[-1]

        args = [map_arrays(given, value) for value in self.sample.args]
        kwargs = {key: map_arrays(given, value) for key, value in self.sample.kwargs.items()}
        result = self.info.call(*args, **kwargs)
        return [variable.value() for variable in variables] if variables else result

    def variable(self, number: int, value: ag.Tensor) -> ag.Variable:
        """A variable of the call's own, which is made once and begins with a value."""
        key = number, value._shape
        if key not in self.variables:
            self.variables[key] = ag.Variable(ag.zeros_like(value))
        return self.variables[key].assign(value)


def _outcome(call: _Call, function: Callable[..., Any], sample: Sample) -> Any:
    """A function's outcome: the bytes of each result, or the error's text."""
    ag.set_random_seed(3)
    try:
        result = function(*call.tensors(sample))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    leaves = [ag.convert_to_tensor(leaf) for leaf in nest.flatten(result)]
    return [(leaf.dtype, leaf._shape, _bytes(np.asarray(leaf.numpy()))) for leaf in leaves]


def _bytes(host: Any) -> Any:
    """The bits of an array, without the payloads of NaN: they depend on where NumPy's vectors begin."""
    if host.dtype.kind not in "fcV":  # V is that of bfloat16 and its like
        return host.tolist() if host.dtype == object else host.tobytes()
    parts = (host.real, host.imag) if host.dtype.kind == "c" else (host,)
    return [(np.asarray(part != part).tobytes(), np.where(part != part, 0, part).tobytes()) for part in parts]


def _shown(outcome: Any) -> str:
    return outcome if isinstance(outcome, str) else ", ".join(f"{dtype.name} {shape}" for dtype, shape, _ in outcome)

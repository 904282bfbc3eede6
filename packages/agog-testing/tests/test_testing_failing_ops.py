"""Ops that fail for some values of dtypes and shapes that they allow: all of them say so, and fail in traced functions
also where nobody uses their results."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.calls.call import call
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dispatch.kernels.resolution import resolve
from agog_core.dispatch.op import Op, all_ops
from agog_core.dtypes import as_dtype
from agog_core.tracing.execution.kernels import run_kernel
from agog_core.tracing.functions.function import function
from agog_testing.opinfo import Sample, table
from agog_testing.subject import map_arrays

OPS = {name: op for name, op in all_ops().items() if op.function.__module__.startswith("agog_core.")}
_MOST = 24  # calls of one op and dtype
_LARGE = 20_000  # elements of a sample that is left out

# Samples of ops that fail for other attributes than those of the kit's samples.
MORE = {
    "ctc_beam_search_decoder": [
        Sample("two paths", (np.zeros((2, 1, 3), "f4"), np.array([2], "i4")), {"beam_width": 4, "top_paths": 2})
    ]
}

Call = tuple[list[Any], dict[str, Any]]


def calls(op: Op, dtype: str) -> list[Call]:
    """What a kernel is called with by the samples of its op: arrays, and attributes."""
    info, found = table[op.name], []
    kernels = get_device("cpu:0").table(as_dtype(dtype))
    kernel = kernels.kernels.get(op.name) or resolve(op, kernels, [])

    def watched(*arrays: Any, **attributes: Any) -> Any:
        found.append(([np.array(x) if isinstance(x, np.ndarray) else x for x in arrays], attributes))
        return kernel(*arrays, **attributes)

    samples = [*info.samples(dtype, np.random.default_rng(0)), *(MORE.get(op.name, ()) if dtype == "float32" else ())]
    for sample in samples:
        given = [*sample.args, *sample.kwargs.values()]
        if any(isinstance(x, np.ndarray) and x.size > _LARGE for x in given) or len(found) >= _MOST:
            continue
        names = iter(op.inputs)

        def convert(array: Any, names: Any = names) -> Any:
            return ag.Variable(array) if next(names, None) in op.updates else ag.constant(array)

        args = [map_arrays(convert, value) for value in sample.args]
        kwargs = {key: map_arrays(convert, value) for key, value in sample.kwargs.items()}
        kernels.install(op.name, watched)
        try:
            info.call(*args, **kwargs)
        finally:
            kernels.install(op.name, kernel)
    return found


def others(array: Any) -> Iterator[Any]:
    """Arrays of the same dtype and shape as one, with values that are likely to be wrong."""
    if array.dtype == object:
        for text in (b"", b"\xff\xfe", b"!!!", b"1e999"):
            yield np.full(array.shape, text, object)
        return
    yield from (np.zeros_like(array), np.ones_like(array))
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        numbers = [n for n in (1000, -1, -2, limits.max // 2, limits.min) if limits.min <= n <= limits.max]
        yield from (np.full_like(array, number) for number in numbers)
    elif array.dtype.kind in "fc":
        yield from (np.full_like(array, number) for number in (-1.0, np.nan, np.inf, 0.5))


def failures(op: Op, dtype: str) -> Iterator[tuple[Call, Call, Exception]]:
    """Calls like those of the samples that raise: a call that does not, the call, and the error."""
    kernels = get_device("cpu:0").table(as_dtype(dtype))
    for arrays, attributes in calls(op, dtype):
        for place, array in enumerate(arrays):
            if not isinstance(array, np.ndarray) or not array.size:
                continue
            for other in others(array):
                wrong = [*arrays[:place], other, *arrays[place + 1 :]]
                try:
                    run_kernel(op, kernels, [x.copy() if isinstance(x, np.ndarray) else x for x in wrong], attributes)
                except MemoryError:  # which depends on the machine
                    continue
                except Exception as error:
                    yield (arrays, attributes), (wrong, attributes), error


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


@pytest.mark.parametrize("name", OPS)
def test_what_may_fail_says_so(name: str) -> None:
    op = OPS[name]
    raising = {as_dtype(dtype) for dtype in table[name].dtypes if next(failures(op, dtype), None) is not None}
    assert raising <= op.may_fail
    assert bool(raising) == bool(op.may_fail)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.may_fail and not op.updates])
def test_a_call_whose_result_nobody_uses_fails(name: str) -> None:
    op = OPS[name]
    dtype = next(dtype for dtype in table[name].dtypes if next(failures(op, dtype), None) is not None)
    right, wrong, _ = next(failures(op, dtype))

    def run(x: ag.Tensor, *tensors: ag.Tensor) -> ag.Tensor:
        call(op, *tensors, **right[1])
        return x + 1.0

    def outcome(step: Any, arrays: list[Any]) -> Any:
        try:
            return step(ag.constant(1.0), *map(ag.constant, arrays)).numpy()
        except Exception as error:
            return type(error), str(error)

    traced = function(run)
    for arrays in (right[0], right[0], wrong[0], right[0], wrong[0]):
        assert outcome(traced, arrays) == outcome(run, arrays)
    assert isinstance(outcome(traced, wrong[0]), tuple)
    assert len(traced.traces()) == 1

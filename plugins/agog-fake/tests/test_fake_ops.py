"""Every op on the fake device: its kernel is right, and neither the op nor its gradient goes by way of the host."""

from __future__ import annotations

from typing import Any

import pytest

import agog_core as ag
import agog_fake
import agog_kernels_xp
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dispatch.op import all_ops
from agog_core.gradients.backpropagation import _constants as filled_like_cache
from agog_testing.conformance import collect
from agog_testing.opinfo import OpInfo, Sample, table
from agog_testing.subject import Subject

# Gradients of some ops call ops that half precision has not.
PASSED = ("passed", "not checked")
CASES = collect("fake")
# What takes long is run for one dtype of each op; `nox -s matrix` runs all for all. The functions are those of
# agog-cpu-numpy, whose tests run more of it for all dtypes.
LONG = {
    *("aliasing", "forward", "gradient", "large", "leaks", "linear", "memory", "repeated", "same_array", "shortcuts"),
    *("sizes", "state", "strides", "surroundings", "threads", "variables"),
}
OPS = sorted(all_ops())


@pytest.mark.parametrize("op", OPS)
def test_kernels_conform(op: str) -> None:
    cases = [case for case in CASES if case.op == op]
    dtypes = {case.dtype for case in cases}
    of_long = next((dtype for dtype in ("float32", "int32", "complex64") if dtype in dtypes), min(dtypes, default=None))
    cases = [case for case in cases if case.check not in LONG or case.dtype == of_long]
    failures = {case.id: outcome.text for case in cases if (outcome := case.run()).kind not in PASSED}
    assert failures == {}


def test_every_op_has_a_kernel() -> None:
    assert {case.op for case in CASES} == {op for op in OPS if not is_of_strings(op)}


def is_of_strings(op: str) -> bool:
    """Whether an op takes or makes strings, which the device does not hold: it runs on the host."""
    return any(op in ops for ops in agog_kernels_xp.strings.KERNELS.values())


def subject_of(info: OpInfo) -> Subject:
    dtype = next((name for name in ("float32", "int32", "bool", "complex64") if name in info.dtypes), info.dtypes[0])
    return Subject(info=info, dtype=dtype, device=get_device("fake:0"), kernel=lambda: None)


def call(info: OpInfo, sample: Sample, arguments: tuple[list[Any], dict[str, Any], list[ag.Variable]]) -> None:
    """An op, its gradient and the gradient of that, of inputs that are on the device."""
    args, kwargs, _ = arguments
    if not info.differentiable or not sample.smooth:
        info.call(*args, **kwargs)
        return
    sources = [x for value in (*args, *kwargs.values()) for x in (value if isinstance(value, list) else [value])]
    sources = [x for x in sources if isinstance(x, ag.Tensor) and x.dtype.is_differentiable]
    with ag.GradientTape() as outer:
        outer.watch(sources)
        with ag.GradientTape() as inner:
            inner.watch(sources)
            out = info.call(*args, **kwargs)
        gradients = [g for g in inner.gradient(out, sources) if g is not None]
    outer.gradient(gradients, sources)


# Ops that must look at values, or are handed some from the host.
BY_WAY_OF_THE_HOST = {
    "as_string": "the device holds no strings",
    "bitcast": "some samples ask for bfloat16, which the device does not hold",
    "cast": "some samples ask for bfloat16, which the device does not hold",
    "one_hot": "one sample asks for bfloat16, which the device does not hold",
    "bincount": "the largest number decides the size of the result",
    "check_numerics": "whether it raises depends on the values",
    "ctc_loss": "its second derivative uses tables of positions, which are made on the host",
    "ctc_loss_grad": "its derivative uses tables of positions, which are made on the host",
    "frame": "the value of the padding is an attribute, and was given as a tensor",
    "igamma": "how many terms the series for the derivative in the first argument takes depends on the values",
    "igammac": "how many terms the series for the derivative in the first argument takes depends on the values",
    "pad": "the value of the padding is an attribute, and was given as a tensor",
    "reduce_extremum_grad": "its samples hand over a NumPy scalar",
    "substr": "its samples hand over positions as Python numbers",
}


@pytest.mark.parametrize("op", OPS)
def test_op_and_its_gradients_copy_nothing(op: str) -> None:
    info = table[op]
    subject = subject_of(info)
    copied = []
    with ag.device("fake:0"):
        for sample in subject.samples():
            # Python numbers and small seeds of gradients are copied to the device once, and kept.
            call(info, sample, subject.arguments(sample))
            arguments = subject.arguments(sample)
            agog_fake.reset_copies()
            call(info, sample, arguments)
            if agog_fake.copies() != agog_fake.Copies():
                copied.append((sample.name, agog_fake.copies()))
    assert bool(copied) == (op in BY_WAY_OF_THE_HOST), copied


def in_use(backend: Any) -> int:
    backend.synchronize(0)
    return backend.memory_stats(0).in_use  # type: ignore[no-any-return]  # this device counts


@pytest.mark.parametrize("op", OPS)
def test_memory_is_given_back(op: str) -> None:
    """Nothing that an op or its gradients made on the device outlives them, but what is kept on purpose."""
    info = table[op]
    subject = subject_of(info)
    backend = subject.device.backend
    with ag.device("fake:0"):
        filled_like_cache.clear()  # it is emptied when it is full, which may be in between
        for sample in subject.samples():
            call(info, sample, subject.arguments(sample))
        before = in_use(backend)
        for sample in subject.samples():
            call(info, sample, subject.arguments(sample))
        assert in_use(backend) == before

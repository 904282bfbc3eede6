"""Every op on the fake device: its kernel is right, and neither the op nor its gradient goes by way of the host."""

from __future__ import annotations

from typing import Any

import pytest

import agog_core as ag
import agog_fake
from agog_core.devices import get_device
from agog_core.op import registry
from agog_testing.conformance import collect
from agog_testing.opinfo import OpInfo, Sample, table
from agog_testing.subject import Subject

CASES = collect("fake")
OPS = sorted(registry)


@pytest.mark.parametrize("op", OPS)
def test_kernels_conform(op: str) -> None:
    failures = {case.id: outcome.text for case in CASES if case.op == op and (outcome := case.run()).kind != "passed"}
    assert failures == {}


def test_every_op_has_a_kernel() -> None:
    assert {case.op for case in CASES} == set(OPS)


def subject_of(info: OpInfo) -> Subject:
    dtype = next(name for name in ("float32", "int32", "bool") if name in info.dtypes)
    return Subject(info=info, dtype=dtype, device=get_device("fake:0"), kernel=lambda: None)


def call(info: OpInfo, sample: Sample, arguments: tuple[list[Any], dict[str, Any], list[ag.Variable]]) -> None:
    """An op, its gradient and the gradient of that, of inputs that are on the device."""
    args, kwargs, _ = arguments
    if not info.differentiable:
        info.call(*args, **kwargs)
        return
    sources = [x for value in (*args, *kwargs.values()) for x in (value if isinstance(value, list) else [value])]
    sources = [x for x in sources if isinstance(x, ag.Tensor)]
    with ag.GradientTape() as outer:
        outer.watch(sources)
        with ag.GradientTape() as inner:
            inner.watch(sources)
            out = info.call(*args, **kwargs)
        gradients = [g for g in inner.gradient(out, sources) if g is not None]
    outer.gradient(gradients, sources)


@pytest.mark.parametrize("op", OPS)
def test_op_and_its_gradients_copy_nothing(op: str) -> None:
    info = table[op]
    subject = subject_of(info)
    with ag.device("fake:0"):
        for sample in subject.samples():
            # Python numbers and small seeds of gradients are copied to the device once, and kept.
            call(info, sample, subject.arguments(sample))
            arguments = subject.arguments(sample)
            agog_fake.reset_copies()
            call(info, sample, arguments)
            assert agog_fake.copies() == (0, 0), sample.name


@pytest.mark.parametrize("op", OPS)
def test_memory_is_given_back(op: str) -> None:
    """Nothing that an op or its gradients made on the device outlives them, but what is kept on purpose."""
    info = table[op]
    subject = subject_of(info)
    backend = subject.device.backend
    with ag.device("fake:0"):
        for sample in subject.samples():
            call(info, sample, subject.arguments(sample))
        before = backend.memory_in_use(0)
        for sample in subject.samples():
            call(info, sample, subject.arguments(sample))
        assert backend.memory_in_use(0) == before

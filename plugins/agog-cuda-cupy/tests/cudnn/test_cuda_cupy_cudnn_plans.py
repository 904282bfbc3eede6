"""cuDNN has a plan for the convolutions of common networks, on each kind of GPU that we compile for.

cuDNN plans for a GPU that is described to it, so that neither a GPU nor a driver is needed. Nothing is computed here.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from agog_cuda_cupy.cuda.modules import Modules
from agog_cuda_cupy.cuda.sliding import windows
from agog_cuda_cupy.cudnn import Form, Plans

cudnn = pytest.importorskip("cudnn", reason="cuDNN's frontend is not installed: pip install agog-cuda-cupy[cudnn12]")

DTYPES = ("float16", "bfloat16", "float32", "float64")
# What differs between the GPUs, as cuDNN names it; sizes in bytes.
GPUS = {
    "sm_80": {"deviceName": "A100", "deviceVer": 800, "multiProcessorCount": 108, "l2CacheSize": 40 << 20},
    "sm_90": {"deviceName": "H100", "deviceVer": 900, "multiProcessorCount": 132, "l2CacheSize": 50 << 20},
    "sm_100": {"deviceName": "B200", "deviceVer": 1000, "multiProcessorCount": 148, "l2CacheSize": 126 << 20},
}
SHARED_BYTES = {"sm_80": 166912, "sm_90": 232448, "sm_100": 232448}
COMMON = {
    "cudaDeviceId": 0,
    "driverVer": 12080,
    "isTccDriver": 0,
    "maxBlockSize": [1024, 1024, 64],
    "maxCtasPerSM": 32,
    "maxGridSize": [2147483647, 65535, 65535],
    "maxRegistersPerSM": 65536,
    "maxSharedMemoryPerBlock": 49152,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerSM": 2048,
    "memClockRateKHz": 2619000,
    "memoryBusWidth": 5120,
    "oversizedSharedMemoryPerBlock": 0,
    "pciDeviceId": 0,
    "regsPerBlock": 65536,
    "reservedSharedMemoryPerBlock": 1024,
    "smClockRateKHz": 1980000,
    "supportCoopLaunch": 1,
    "totalGlobalMem": 80 << 30,
    "warpSize": 32,
}
# Input, filter, strides, paddings and dilations, channels last; as to the inputs a filter counts those of one group.
CALLS: dict[str, tuple[Any, ...]] = {
    "first of a residual network": ((8, 224, 224, 3), (7, 7, 3, 64), (2, 2), ((2, 3), (2, 3)), (1, 1)),
    "3x3": ((8, 56, 56, 64), (3, 3, 64, 64), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "1x1 with strides": ((8, 56, 56, 256), (1, 1, 256, 512), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    "digits": ((32, 28, 28, 1), (5, 5, 1, 32), (1, 1), ((2, 2), (2, 2)), (1, 1)),
    "odd channels": ((4, 13, 11, 7), (3, 2, 7, 5), (1, 2), ((1, 0), (0, 1)), (1, 1)),
    "dilated": ((4, 33, 33, 64), (3, 3, 64, 32), (1, 1), ((2, 2), (2, 2)), (2, 2)),
    "groups": ((8, 28, 28, 64), (3, 3, 16, 128), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "depthwise": ((8, 28, 28, 96), (3, 3, 1, 96), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "one axis": ((8, 400, 64), (5, 64, 128), (1,), ((2, 2),), (1,)),
    "three axes": ((2, 16, 28, 28, 32), (3, 3, 3, 32, 32), (1, 1, 1), ((1, 1),) * 3, (1, 1, 1)),
}


def plans_for(gpu: str) -> Plans:
    """What plans for a kind of GPU."""
    described = COMMON | GPUS[gpu] | {"maxSharedMemoryPerBlockOptin": SHARED_BYTES[gpu]}
    target = {"device_property": cudnn.create_device_properties(json.dumps(described))}
    return Plans(Modules(np, _never, _never, _never), cudnn, target)


def _never(*arguments: Any) -> Any:
    raise AssertionError("nothing is computed")


def forms(call: str, dtype: str, *, is_strict: bool = True) -> list[Form]:
    """A convolution and its two gradients."""
    shape, filter_shape, *sliding = CALLS[call]
    given = windows(shape, filter_shape[:-2], *sliding)
    assert given is not None
    result, turned = (shape[0], *given.places, filter_shape[-1]), (filter_shape[-1], *filter_shape[:-1])
    return [
        Form("conv_fprop", dtype, is_strict, (("image", shape), ("weight", turned)), result, *sliding),
        Form("conv_dgrad", dtype, is_strict, (("loss", result), ("filter", turned)), shape, *sliding),
        Form("conv_wgrad", dtype, is_strict, (("image", shape), ("loss", result)), turned, *sliding),
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("gpu", GPUS)
def test_there_is_a_plan(gpu: str, call: str, dtype: str) -> None:
    plans = plans_for(gpu)
    without = [form.node for form in forms(call, dtype) if plans.plan(form) is None]
    assert not without


@pytest.mark.parametrize("gpu", GPUS)
def test_strict_float32_stays_off_tensor_cores(gpu: str) -> None:
    plans = plans_for(gpu)
    for strict, loose in zip(forms("3x3", "float32"), forms("3x3", "float32", is_strict=False), strict=True):
        with_strict, with_loose = plans.plan(strict), plans.plan(loose)
        assert with_strict is not None
        assert with_loose is not None
        on_tensor_cores = _names(plans, loose, cudnn.numerical_note.TENSOR_CORE)
        assert on_tensor_cores
        assert _chosen(with_strict.graph) not in on_tensor_cores


def _chosen(graph: Any) -> str:
    """The name of the plan that a graph has chosen."""
    name: str = graph.get_plan_name_at_index(graph._plan_index)
    return name


def _names(plans: Plans, form: Form, note: Any) -> set[str]:
    """The plans that cuDNN marks with a note."""
    plan = plans.plan(form)
    assert plan is not None
    plan.graph.deselect_numeric_notes([note])
    indices = range(plan.graph.get_execution_plan_count())
    return {plan.graph.get_plan_name_at_index(index) for index in indices if not _builds(plan.graph, index)}


def _builds(graph: Any, index: int) -> bool:
    try:
        graph.build_plan_at_index(index)
    except cudnn.cudnnGraphNotSupportedError:
        return False
    return True


def test_none_is_said_where_all_plans_are_barred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agog_cuda_cupy.cudnn._MOST_BYTES", -1)
    plans = plans_for("sm_90")
    assert [plans.plan(form) for form in forms("3x3", "float32")] == [None] * 3

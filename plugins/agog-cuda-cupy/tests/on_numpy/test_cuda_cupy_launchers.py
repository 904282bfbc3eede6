"""Our own kernels are those of the device: chosen before CuPy's, compiled late, and left where they decline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cupy_on_numpy import counting, cuda_modules

import agog_core as ag
from agog_core.dispatch.kernels.candidates import candidates
from agog_core.dispatch.op import all_ops
from agog_core.dispatch.reports.explanation import explain
from agog_core.ops.updates.adam import apply_adam
from agog_core.ops.updates.descent import apply_gradient_descent, apply_momentum
from agog_cuda_cupy import launchers
from agog_cuda_cupy.hooks import DTYPES

OPS = [(op, family) for family in launchers.FAMILIES for op in family.ops]


@pytest.mark.parametrize(("op", "family"), OPS, ids=[op for op, _ in OPS])
def test_ops_have_their_launcher_before_cupys_kernel(op: str, family: launchers.Family) -> None:
    dtypes = {dtype.name for dtype in all_ops()[op].dtypes}
    assert set(family.dtypes) <= set(DTYPES)
    for dtype in dtypes & set(DTYPES):
        usable, _ = candidates(op, "gpu", dtype)
        priorities = [200, 100] if dtype in family.dtypes else [100]
        assert [each.kernel.priority for each in usable] == priorities, dtype
    kernel = launchers.make_several(op, "float32", "gpu:0")
    assert (kernel.func.__name__, kernel.func.__module__) == (op, f"agog_cuda_cupy.cuda.{family.module}")  # type: ignore[attr-defined]


def test_nothing_is_compiled_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[int] = []

    class Counted(cuda_modules.Module):
        def load(self, cubin: bytes) -> None:
            super().load(cubin)
            compiled.append(self._index)

    monkeypatch.setattr("cupy.cuda.function.Module", Counted)
    launchers.modules.cache_clear()
    try:
        for index in (0, 1):
            softmax = launchers.make("softmax", "float32", f"gpu:{index}")
            assert compiled == [*range(index)]
            with launchers.modules(f"gpu:{index}").xp.cuda.Device(index):
                x = launchers.modules("gpu:0").xp.zeros((2, 3), "float32")
                assert [softmax(x, axis=1).get().tolist() for _ in range(2)] == [[[np.float32(1 / 3)] * 3] * 2] * 2
            assert compiled == [*range(index + 1)]
    finally:
        launchers.modules.cache_clear()


def test_launches_are_counted_with_their_line() -> None:
    with ag.device("/gpu:1"):
        x = ag.zeros((4, 5))
        counting.reset()
        ag.nn.softmax(x)
    ((text, count),) = counting.launches.items()
    assert text.startswith("softmax at softmax.py:")
    assert count == 1


def test_what_a_launcher_declines_cupys_kernel_computes() -> None:
    with ag.device("/gpu:0"):
        x = ag.constant([[1.0, 2.0], [3.0, 5.0]])
        counting.reset()
        y = ag.nn.softmax(x, axis=0)
    assert next(iter(counting.launches)).startswith("max at rows.py:")
    assert not any(text.startswith("softmax at") for text in counting.launches)
    np.testing.assert_allclose(y.numpy(), [[0.11920292, 0.04742587], [0.880797, 0.95257413]], rtol=1e-6)


def test_explain_says_for_which_calls() -> None:
    text = explain("softmax", "gpu", "float32")
    ours = "priority 200, bfloat16, float16, float32, float64, when axis is the last one, and it is not empty"
    assert ours in text
    assert text.index(ours) < text.index("priority 100")


@pytest.mark.parametrize("rate", [1, np.float32(0.5), np.float64(0.5), np.int64(2), np.float16(0.25)])
@pytest.mark.parametrize(
    "step",
    [
        apply_gradient_descent,
        lambda v, g, rate: apply_momentum(v, ag.Variable(g), g, rate, rate, False),
        lambda v, g, rate: apply_adam(v, ag.Variable(g), ag.Variable(g), g, rate, 0.9, 0.99, 1e-8, False, 0.0),
    ],
    ids=["descent", "momentum", "adam"],
)
def test_a_rate_of_any_type_takes_the_step_of_the_cpu(step: Callable[..., None], rate: Any) -> None:
    found = {}
    for device in ("/cpu:0", "/gpu:0"):
        with ag.device(device):
            variable = ag.Variable(np.float64([1.0, 2.0]))
            step(variable, ag.constant(np.float64([0.25, 0.5])), rate)
            found[device] = variable.numpy()
    assert (found["/cpu:0"] != [1.0, 2.0]).all()
    np.testing.assert_array_equal(found["/gpu:0"], found["/cpu:0"])


# What draws bits by a kernel of ours, and the most launches that it takes.
DRAWN: dict[str, tuple[Callable[[], ag.Tensor], int]] = {
    "multinomial": (lambda: ag.multinomial(ag.constant(np.log(np.float32([[1, 2, 3, 4]] * 8))), 100), 110),
    "random_shuffle": (lambda: ag.random_shuffle(ag.range(1000)), 8),
}


@pytest.mark.parametrize("name", DRAWN)
def test_random_bits_are_one_launch_and_those_of_the_cpu(name: str) -> None:
    draw, most = DRAWN[name]
    drawn = {}
    for device in ("/cpu:0", "/gpu:1", "/gpu:0"):
        with ag.device(device):
            ag.set_random_seed(5)
            counting.reset()
            drawn[device] = draw().numpy()
            assert [count for text, count in counting.launches.items() if text.startswith("bits at")] == (
                [] if device == "/cpu:0" else [1]
            )
            assert sum(counting.launches.values()) <= most
    np.testing.assert_array_equal(drawn["/gpu:0"], drawn["/cpu:0"])
    np.testing.assert_array_equal(drawn["/gpu:1"], drawn["/cpu:0"])

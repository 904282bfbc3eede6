"""Our own kernels are those of the device: chosen before CuPy's, compiled late, and left where they decline."""

from __future__ import annotations

import numpy as np
import pytest
from cupy_on_numpy import counting, cuda_modules

import agog_core as ag
from agog_core.dispatch.candidates import candidates
from agog_core.dispatch.explanation import explain
from agog_core.dispatch.op import all_ops
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

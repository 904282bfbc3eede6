"""Broken copies of the kernels whose threads work together: in some order of threads each is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from guarded_memory import guarded
from host_module import UNWRITTEN, HostKernel, HostModule, HostWords, LaunchError

from agog_cuda_cupy.cuda import ctc, optimizers, reduction, sorting, transpose
from agog_cuda_cupy.cuda.modules import Modules


def _broken(old: str, new: str) -> tuple[Modules, list[bool]]:
    """The kernels, with a part of their sources replaced, and for each source whether it has that."""
    changed: list[bool] = []

    def compile(*, code: str, options: tuple[str, ...]) -> HostModule:
        changed.append(old in code)
        return HostModule(code.replace(old, new), options)

    return Modules(UNWRITTEN, compile, lambda array: int(array.ctypes.data), HostWords()), changed


def _turn(modules: Modules) -> bool:
    x = np.arange(70.0 * 40).reshape(70, 40)
    return np.array_equal(transpose.transpose(modules, x, perm=(1, 0)), x.T)


def _find_largest(modules: Modules) -> bool:
    x = np.random.default_rng(7).permutation(300).astype("f4").reshape(1, 300)
    x[0, 0] = 300
    return np.array_equal(sorting.top_k(modules, x, k=4)[1], np.argsort(-x)[:, :4])


def _add_up(modules: Modules) -> bool:
    x = np.random.default_rng(7).integers(0, 99, (3, 1500)).astype("f4")
    return np.array_equal(reduction.reduce_sum(modules, x, axes=(1,), keepdims=False), x.sum(1))


def _step(modules: Modules) -> bool:
    """Two variables of several blocks, whose step is a multiple of their norm."""
    rng = np.random.default_rng(7)
    values = [
        (rng.random(n, "f4"), *np.zeros((2, n), "f4"), rng.random(n, "f4") - np.float32(0.5)) for n in (1300, 700)
    ]
    variables = [tuple(guarded(array) for array in arrays) for arrays in values]
    attributes = {"learning_rate": 0.1, "correction": 1.0, "beta1": 0.0, "beta2": 0.0, "epsilon": 0.0}
    expected = []
    for w, _, _, g in variables:
        norm = np.sqrt((w.astype("f8") ** 2).sum() / w.size)  # all directions are 1 or -1
        expected.append(w - np.sign(g) * np.float32(0.1 * norm))
    optimizers.apply_lamb(modules, variables, weight_decay=0.0, **attributes)
    return all(np.allclose(one[0], w, rtol=1e-6, atol=1e-6) for one, w in zip(variables, expected, strict=True))


def _align(modules: Modules) -> bool:
    """One alignment of 40 labels, over more states than a warp has threads."""
    labels = np.arange(40, dtype="i4")[None] % 2
    logits = np.random.default_rng(7).standard_normal((40, 1, 3))
    probabilities = np.exp(logits[:, 0]) / np.exp(logits[:, 0]).sum(1, keepdims=True)
    expected = -np.log(probabilities[np.arange(40), labels[0]]).sum()
    found = ctc.ctc_loss(modules, labels, logits, np.array([40], "i4"), merge_repeated=True)
    return np.allclose(found, expected, rtol=1e-10)


# What is replaced by what, and a case that shows it.
FAULTS: dict[str, tuple[str, str, Callable[[Modules], bool]]] = {
    "tile_without_a_barrier": ("__syncthreads();", "", _turn),
    "tile_with_an_unwritten_row": ("row + n < rows &&", "row + n + 1 < rows &&", _turn),
    "tile_behind_the_array": ("column + n < columns", "column + n <= columns", _turn),
    "top_k_without_the_first_barrier": ("__syncthreads();\n    for", "for", _find_largest),
    "top_k_without_the_last_barrier": ("__syncthreads();  // they may be written again", "", _find_largest),
    "top_k_with_a_warp_too_few": ("n < blockDim.x / 32", "n < blockDim.x / 32 - 1", _find_largest),
    "top_k_from_the_second": ("i64 n = threadIdx.x; n < width", "i64 n = threadIdx.x + 1; n < width", _find_largest),
    "sum_without_the_farthest_lanes": ("int step = 16", "int step = 8", _add_up),
    "sum_behind_the_row": ("n < end; n += 32", "n <= end; n += 32", _add_up),
    "lamb_with_the_next_block": ("n < all.first_block[tensor + 1]", "n <= all.first_block[tensor + 1]", _step),
    "lamb_with_one_threads_sum": ("of_variable = block_sum(of_variable, parts);", "", _step),
    "lamb_with_the_neighbours_direction": (
        "= directions + thread_number();\n    each",
        "= directions;\n    each",
        _step,
    ),
    "ctc_without_a_barrier": ("__syncthreads();", "", _align),
}


@pytest.mark.parametrize("case", dict.fromkeys(case for _, _, case in FAULTS.values()), ids=lambda case: case.__name__)
def test_the_kernel_is_right_as_it_is(modules: Any, order: str, case: Callable[[Modules], bool]) -> None:
    assert case(modules)


def _is_right(case: Callable[[Modules], bool], modules: Modules) -> bool:
    with np.errstate(all="ignore"):
        try:
            return case(modules)
        except LaunchError:
            return False


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_copy_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, case = FAULTS[name]
    outcomes = []
    modules, changed = _broken(old, new)
    for order in range(4):
        monkeypatch.setattr(HostKernel, "order", order)
        outcomes.append(_is_right(case, modules))
    assert any(changed)
    assert not all(outcomes)

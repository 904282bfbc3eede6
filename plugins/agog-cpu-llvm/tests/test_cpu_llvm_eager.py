"""Eager calls of single ops: compiled, they have the bits, shapes and strides of the reference kernels."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.compiler import SingleOp, lowering
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dispatch.op import Op, all_ops
from agog_core.errors import PluginWarning
from agog_core.ops.nn.standardization import standardize
from agog_core.tracing.execution import executors
from agog_cpu_llvm import hooks, presence
from agog_cpu_llvm.fusion import compiler, eager
from agog_cpu_numpy import kernels as reference

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

# Of standardization, normalization has calls along the first or the last axes.
OPS = [k.op for k in hooks.agog_kernels() if k.lower == "next" and not k.op.startswith("standardize")]
ROWS, COLUMNS = 300, 230


@pytest.fixture(autouse=True)
def kept_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def arguments(op: Op, dtype: str, seed: int) -> tuple[list[np.ndarray], dict[str, Any]]:
    """Inputs and attributes for an op; slots of optimizers are positive."""
    random = np.random.default_rng(seed)
    arrays = [random.normal(size=(ROWS, COLUMNS)).astype(dtype) * 3 for _ in op.inputs]
    for array in arrays:
        array.reshape(-1)[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 88.0, -104.0]
    attributes: dict[str, Any] = {}
    if op.updates:
        for name, array in zip(op.inputs[1:-1], arrays[1:-1], strict=True):
            array[...] = abs(array) + (0.1 if name else 0)
        given = {"float": 0.01 + 0.001 * seed, "bool": False, "int": 3}
        annotations = inspect.get_annotations(op.function)
        attributes = {name: given[kind] for name, kind in annotations.items() if kind in given}
    elif op.name.startswith("leaky_relu"):
        attributes = {"alpha": 0.2}
    return arrays, attributes


def results(op: Op, kernel: Any, arrays: list[np.ndarray], attributes: dict[str, Any]) -> list[np.ndarray]:
    arrays = [array.copy() for array in arrays]
    returned = kernel(*arrays, **attributes)
    if not op.updates:
        return list(returned) if isinstance(returned, tuple) else [returned]
    return list(returned or arrays[: len(op.updates)])


def assert_same(got: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one[~np.isnan(one)]), np.signbit(other[~np.isnan(other)]))
        assert (one.dtype, one.strides) == (other.dtype, other.strides)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPS)
def test_bits_are_those_of_the_reference(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ag.constant(1.0)  # a device is there
    op = all_ops()[name]
    kernel, groups = SingleOp(name, dtype, "cpu:0", least=1000), []
    compiled = compiler.compile
    monkeypatch.setattr(compiler, "compile", lambda subgraph: groups.append(subgraph) or compiled(subgraph))
    for seed in range(4):  # numbers such as learning rates are others in each call
        arrays, attributes = arguments(op, dtype, seed)
        assert_same(results(op, kernel, arrays, attributes), results(op, getattr(reference, name), arrays, attributes))
    assert groups, "nothing was compiled"
    assert None not in kernel._known.values()
    assert len(kernel._known) == 1


def test_standardization_along_axes_between_others_has_the_bits_of_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    groups: list[Any] = []
    compiled = compiler.compile
    monkeypatch.setattr(compiler, "compile", lambda subgraph: groups.append(subgraph) or compiled(subgraph))
    x = np.random.default_rng(0).normal(size=(3, 100, COLUMNS)).astype(np.float32)
    wanted = reference.standardize(x, axes=(1,), epsilon=1e-3)
    for _ in range(3):
        assert_same([each.numpy() for each in standardize(ag.constant(x), 1, 1e-3)], list(wanted))
    assert groups, "nothing was compiled"


def chosen(op: str) -> SingleOp:
    """The kernel that the table has for float32."""
    chain = get_device("cpu:0").table(ag.float32).chains[op]
    kernel = chain.candidates[chain.head].instances[op, "float32", "cpu:0"]
    assert isinstance(kernel, SingleOp)
    return kernel


def test_a_small_call_is_run_by_the_next_kernel() -> None:
    x = ag.constant([-1.0, 2.0])
    ag.nn.softplus(x)
    kernel = chosen("softplus")
    before = dict(kernel._known)
    np.testing.assert_array_equal(ag.nn.softplus(x).numpy(), reference.softplus(x.numpy()))
    assert kernel._known == before


def test_large_calls_of_users_are_compiled() -> None:
    x = ag.constant(np.linspace(-5, 5, eager.LEAST, dtype="float32"))
    ag.nn.elu(ag.constant([1.0]))  # so that a kernel is chosen
    before = len(chosen("elu")._known)
    first, second, third = ag.nn.elu(x), ag.nn.elu(x), ag.nn.elu(x)
    wanted = reference.elu(x.numpy())
    for result in (first, second, third):
        np.testing.assert_array_equal(result.numpy(), wanted)
    assert len(chosen("elu")._known) == before + 1


def test_a_profile_shows_who_runs_and_lets_it_run() -> None:
    x, y = [ag.constant(np.linspace(-5, 5, size, dtype="float32")) for size in (eager.LEAST + 3, eager.LEAST + 4)]
    small = ag.constant([1.0])
    plain = [ag.nn.selu(x) for _ in range(3)][-1].numpy()
    before = len(chosen("selu")._known)
    with ag.profile() as seen:
        result = ag.nn.selu(x)
        ag.nn.selu(y)  # of a kind that was not compiled before
        ag.nn.selu(small)
    assert sorted((row.op, row.plugin, row.count) for row in seen.ops) == [
        ("selu", "cpu-llvm", 1),
        ("selu", "cpu-numpy", 2),
    ]
    np.testing.assert_array_equal(result.numpy(), plain)
    ag.nn.selu(x)
    assert len(chosen("selu")._known) == before > 0


def test_traced_functions_record_the_reference_kernel() -> None:
    ag.nn.softmax(ag.constant([[1.0, 2.0]]))
    assert lowering(all_ops()["softmax"], get_device("cpu:0").table(ag.float32)) is not None


def test_a_training_on_a_large_variable_has_the_same_bits() -> None:
    found = []
    for kept in ("cpu-numpy", None):
        ag.prefer(*([kept] if kept else []))
        try:
            random = np.random.default_rng(3)
            variable = ag.Variable(random.normal(size=eager.LEAST + 7).astype("float32"))
            slots = [ag.Variable(np.zeros(eager.LEAST + 7, "float32")) for _ in range(2)]
            for step in range(6):
                gradient = ag.constant(random.normal(size=eager.LEAST + 7).astype("float32"))
                from agog_core.ops.updates.adam import apply_adam

                apply_adam(variable, *slots, gradient, 0.1 / (step + 1), 0.9, 0.999, 1e-8, False, 0.0)
            found.append([each.numpy() for each in (variable, *slots)])
        finally:
            ag.prefer()
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_cannot_be_compiled_harms_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(graph: Any) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(executors, "executable", broken)
    x = np.linspace(-1, 1, 2000, dtype="float32")
    kernel = SingleOp("elu", "float32", "cpu:0", least=1000)
    with pytest.warns(PluginWarning) as caught:
        np.testing.assert_array_equal(kernel(x), reference.elu(x))
    assert str(caught[0].message) == "elu: its kernel could not be compiled: RuntimeError: no memory"
    assert kernel(x) is NotImplemented


def test_nothing_of_a_call_is_held() -> None:
    kernel, x = SingleOp("elu", "float32", "cpu:0", least=1000), np.linspace(-1, 1, 2000, dtype="float32")
    for _ in range(3):
        result = kernel(x)
        held = weakref.ref(x), weakref.ref(result)
        x = x.copy()
        del result
        gc.collect()
        assert [each() for each in held] == [None, None]


@pytest.mark.parametrize("pair", [(0.0, -0.0), (1, 1.0), (True, 1)])
def test_equal_attributes_of_another_type_or_sign_are_other_calls(pair: tuple[Any, Any]) -> None:
    kernel, x = SingleOp("leaky_relu", "float32", "cpu:0", least=1000), np.linspace(-1, 1, 2000, dtype="float32")
    for alpha in pair:
        kernel(x, alpha=alpha)
    assert len(kernel._known) == 2


def test_updates_are_in_place() -> None:
    arrays, attributes = arguments(all_ops()["apply_adam"], "float32", 0)
    kernel = SingleOp("apply_adam", "float32", "cpu:0", least=1000)
    for _ in range(3):
        before = arrays[0].copy()
        assert kernel(*arrays, **attributes) is None
        assert not np.array_equal(arrays[0], before, equal_nan=True)


def test_threads() -> None:
    op = all_ops()["apply_adam"]
    kernel, wrong = SingleOp("apply_adam", "float32", "cpu:0", least=1000), []

    def work(seed: int) -> None:
        with np.errstate(all="ignore"):
            arrays, attributes = arguments(op, "float32", seed)
            wanted = results(op, reference.apply_adam, arrays, attributes)
            for _ in range(5):
                got = results(op, kernel, arrays, attributes)
                if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(got, wanted, strict=True)):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []

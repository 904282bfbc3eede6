"""Kernels that decline a call: the next one in rank runs it, and NotImplemented reaches nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.calls.call import call
from agog_core.dispatch.kernels import resolution
from agog_core.dispatch.plugins.loader import loader
from agog_core.errors import AmbiguousKernelError, FallbackWarning, InternalError, MissingKernelError
from agog_core.observers.profiling import profile
from agog_core.plugin import Backend, Kernel, Op, hookimpl
from agog_testing import says

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
ROWS = np.array([[1.0, 2.0], [4.0, 6.0]], np.float32)  # X with its first row added to the second


@pytest.fixture(autouse=True)
def _on_the_cpu() -> Iterator[None]:
    """The kernels here are for the CPU, also where the suite is run on another device."""
    with ag.device("cpu:0"):
        yield


def updated(update: Callable[[ag.Variable], Any]) -> Any:
    variable = ag.Variable(X)
    update(variable)
    return variable.numpy()


# The op, its public function called in the way that the name tells, and its value in NumPy.
WAYS: dict[str, tuple[str, Callable[[], Any], Any]] = {
    "unary": ("exp", lambda: ag.exp(X), np.exp(X)),
    "unary of rank 0": ("exp", lambda: ag.exp(1.0), np.exp(np.float32(1))),
    "binary": ("maximum", lambda: ag.maximum(X, X.T), np.maximum(X, X.T)),
    "binary of rank 0": ("add", lambda: ag.constant(1.0) + 2.0, np.float32(3)),
    "matmul": ("matmul", lambda: ag.matmul(X, X, transpose_b=True), X @ X.T),
    "call": ("cumsum", lambda: ag.cumsum(X), np.cumsum(X, 0)),
    "call of rank 0": ("reduce_sum", lambda: ag.reduce_sum(X), X.sum()),
    "call with three inputs": ("where", lambda: ag.where(X > 2.0, X, -X), np.where(X > 2, X, -X)),
    "several outputs": ("split", lambda: ag.split(X, 2)[1], X[1:]),
    "create": ("fill", lambda: ag.fill([2, 2], 1.5), np.full((2, 2), 1.5, np.float32)),
    "cast": ("cast", lambda: ag.cast(X, "float64"), X.astype(np.float64)),
    "update": ("apply_add", lambda: updated(lambda v: v.assign_add(X)), X + X),
    "update of rows": ("scatter_variable", lambda: updated(lambda v: ag.scatter_add(v, [1], X[:1])), ROWS),
}
each_way = pytest.mark.parametrize("way", WAYS)


@contextmanager
def kernels(**by_plugin: Kernel) -> Iterator[None]:
    """Plugins of one kernel each."""
    for name, kernel in by_plugin.items():
        ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda kernel=kernel: [kernel])), name)
    try:
        yield
    finally:
        for name in by_plugin:
            ag.unregister_plugin(name)


def declining(op: str, calls: list[str], name: str, **changes: Any) -> Kernel:
    """A kernel that takes no call, and says that it was asked."""

    def function(*arrays: Any, **attributes: Any) -> Any:
        calls.append(name)
        return NotImplemented

    return Kernel(**{"op": op, "device": "cpu", "fn": function, "priority": 1000, **changes})


@each_way
def test_the_next_in_rank_runs(way: str) -> None:
    op, run, expected = WAYS[way]
    calls: list[str] = []
    with kernels(low=declining(op, calls, "low", priority=900), high=declining(op, calls, "high")):
        for _ in range(2):
            result = run()
            value = np.asarray(result)
            assert value.dtype == np.asarray(expected).dtype
            np.testing.assert_allclose(value, expected, rtol=1e-6)
    assert calls[:2] == ["high", "low"]
    assert calls == ["high", "low"] * (len(calls) // 2)
    assert len(calls) >= 4


@each_way
def test_what_runs_instead_is_remembered(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op, run, _ = WAYS[way]
    looked_up: list[str] = []
    ranked = resolution.candidates

    def counting(name: str, *where: str) -> Any:
        looked_up.append(name)
        return ranked(name, *where)

    monkeypatch.setattr(resolution, "candidates", counting)
    with kernels(high=declining(op, [], "high")):
        run()
        assert op in looked_up
        looked_up.clear()
        run()
        assert looked_up == []


@each_way
def test_what_is_declined_by_none_is_asked_of_the_first_only(way: str) -> None:
    op, run, _ = WAYS[way]
    calls: list[str] = []
    with kernels(low=declining(op, calls, "low", priority=-1)):  # below the reference
        run()
    assert calls == []


def test_a_kernel_may_decline_some_calls() -> None:
    def square_of_matrices(x: Any) -> Any:
        return x * 0 + 7 if x.ndim == 2 else NotImplemented

    with kernels(matrices=Kernel(op="square", device="cpu", fn=square_of_matrices, priority=200, when="the rank is 2")):
        assert [float(ag.square(ag.constant(x))[..., 0].numpy().flat[0]) for x in (X, X[0], X)] == [7.0, 1.0, 7.0]
        reference = next(p for p in loader().plugins if p.name == "cpu-numpy")
        assert ag.explain("square", "cpu") == (
            "square on device 'cpu' with dtype float32:\n"
            "  chosen: plugin 'matrices' (registered by the program), priority 200, every dtype, when the rank is 2\n"
            f"  next: plugin 'cpu-numpy' ({reference.distribution}), priority 0, every dtype"
        )


def test_gradients_go_through_what_ran() -> None:
    with kernels(high=declining("multiply", [], "high")):
        first = ag.gradients_function(lambda x: x * x * x)
        assert float(first(2.0)[0]) == 12.0
        assert float(ag.gradients_function(lambda x: first(x)[0])(2.0)[0]) == 12.0


def test_nothing_but_what_ran_is_observed() -> None:
    with kernels(high=declining("exp", [], "high")), profile() as seen:
        ag.exp(X)
    assert [(row.op, row.plugin, row.count) for row in seen.ops] == [("exp", "cpu-numpy", 1)]


def test_ties_below_the_first_are_met_when_it_declines() -> None:
    answers = True

    def sometimes(x: Any) -> Any:
        return x if answers else NotImplemented

    tie = [declining("exp", [], name, priority=500) for name in ("one", "two")]
    with kernels(high=Kernel(op="exp", device="cpu", fn=sometimes, priority=1000), one=tie[0], two=tie[1]):
        ag.exp(X)
        answers = False
        with pytest.raises(AmbiguousKernelError) as caught:
            ag.exp(X)
    assert str(caught.value) == (
        "2 kernels of equal rank are registered for op 'exp' on device 'cpu' with dtype float32:\n"
        "  plugin 'one' (registered by the program), priority 500, every dtype\n"
        "  plugin 'two' (registered by the program), priority 500, every dtype\n"
        "Choose one: agog.prefer('one'), or AGOG_PREFER=one in the environment."
    )


# --- when all decline ---------------------------------------------------------------------------------------------


@contextmanager
def own_op(*found: Kernel, **facts: Any) -> Iterator[Op]:
    """An op whose kernels are these and no others."""
    op = Op("test_core_own", lambda *tensors: None, **{"inputs": ["x"], "shape": lambda x: x, **facts})
    hooks = SimpleNamespace(agog_kernels=hookimpl(lambda: list(found)), agog_ops=hookimpl(lambda: [op]))
    ag.register_plugin(hooks, "own")
    try:
        yield op
    finally:
        ag.unregister_plugin("own")


def left_out() -> str:
    return "".join(
        f"\n  left out by AGOG_PLUGINS: plugin {p.name!r} ({p.distribution})" for p in loader().plugins if p.skipped
    )


ALL_DECLINE = (
    "Every kernel for op 'test_core_own' on device 'cpu' with dtype float32 declines a call with shapes (2, 2).\n"
    "  declines: plugin 'own' (registered by the program), priority 200, every dtype, when channels are a multiple "
    "of 8\n"
    "  declines: plugin 'own' (registered by the program), priority 100, float32, when x is a vector{left_out}\n"
    "Install a plugin whose kernel takes it. `agog explain test_core_own --device cpu --dtype float32` prints this "
    "again."
)


def two_that_decline() -> tuple[Kernel, Kernel]:
    first = declining("test_core_own", [], "", priority=200, when="channels are a multiple of 8")
    return first, declining("test_core_own", [], "", priority=100, dtypes=["float32"], when="x is a vector")


def test_when_all_decline() -> None:
    with own_op(*two_that_decline()) as op:
        for _ in range(2):
            with says(MissingKernelError, ALL_DECLINE.format(left_out=left_out())):
                call(op, ag.constant(X))


def test_when_all_decline_to_update_a_variable_it_stays_as_it_was() -> None:
    from agog_core.calls.call import update

    variable = ag.Variable(X)
    with own_op(*two_that_decline(), inputs=["x"], updates=["x"]) as op:
        with pytest.raises(MissingKernelError):
            update(op, [variable], [])
        variable.assign_add(X)
    np.testing.assert_array_equal(variable.numpy(), X + X)


def test_when_all_decline_without_inputs() -> None:
    from agog_core.calls.call import create

    kernel = declining("test_core_own", [], "")
    with own_op(kernel, inputs=[], shape=lambda: ()) as op, pytest.raises(MissingKernelError) as caught:
        create(op, ag.float32)
    assert str(caught.value).splitlines()[0] == (
        "Every kernel for op 'test_core_own' on device 'cpu' with dtype float32 declines a call without inputs."
    )


# --- on another device --------------------------------------------------------------------------------------------


class Boxed:
    """The array type of a device of these tests."""

    def __init__(self, memory: Any) -> None:
        self.memory = np.array(memory)
        self.shape, self.dtype = self.memory.shape, self.memory.dtype


@pytest.fixture
def _box() -> Iterator[None]:
    backend = Backend(
        device="box",
        array_type=Boxed,
        device_count=lambda: 1,
        from_host=lambda host, index: Boxed(host),
        to_host=lambda array: array.memory,
        allocate=lambda shape, dtype, index: Boxed(np.empty(shape, dtype)),
        copy=lambda array: Boxed(array.memory),
        synchronize=lambda index: None,
        memory_in_use=lambda index: None,
    )
    ag.register_plugin(SimpleNamespace(agog_backends=hookimpl(lambda: [backend])), "box")
    yield
    ag.unregister_plugin("box")


@pytest.mark.usefixtures("_box")
def test_a_fallback_runs_what_all_kernels_of_the_device_decline() -> None:
    calls: list[str] = []
    with kernels(boxed=declining("exp", calls, "boxed", device="box")), ag.device("box"):
        x = ag.constant(X)
        with pytest.raises(MissingKernelError, match="Every kernel for op 'exp' on device 'box'"):
            ag.exp(x)
        with ag.fallback("cpu"), pytest.warns(FallbackWarning) as warned:
            results = [ag.exp(x) for _ in range(2)]
        with pytest.raises(MissingKernelError):
            ag.exp(x)
    for y in results:
        np.testing.assert_allclose(y.numpy(), np.exp(X), rtol=1e-6)
        assert type(y._array) is Boxed
    assert calls == ["boxed"] * 4
    assert len(warned) == 1


@pytest.mark.usefixtures("_box")
@pytest.mark.filterwarnings("ignore::agog_core.errors.FallbackWarning")
def test_a_kernel_of_the_other_device_may_decline_too() -> None:
    calls: list[str] = []
    high = {op: declining(op, calls, op) for op in ("exp", "apply_add", "fill", "split")}
    with kernels(**high), ag.device("box"), ag.fallback("cpu"):
        x, variable = ag.constant(X), ag.Variable(X)
        variable.assign_add(x)
        np.testing.assert_allclose(ag.exp(x).numpy(), np.exp(X), rtol=1e-6)
        np.testing.assert_array_equal(variable.numpy(), X + X)
        np.testing.assert_array_equal(ag.fill([2], 3.0).numpy(), [3, 3])
        np.testing.assert_array_equal(ag.split(x, 2)[1].numpy(), X[1:])
    assert sorted(calls) == ["apply_add", "exp", "fill", "split"]


@pytest.mark.usefixtures("_box")
@pytest.mark.filterwarnings("ignore::agog_core.errors.FallbackWarning")
def test_the_note_of_a_fallback_names_the_kernel_that_raised() -> None:
    def fails(x: Any) -> Any:
        raise RuntimeError("no unit is free")

    kernel = Kernel(op="exp", device="cpu", fn=fails, priority=200)
    with kernels(failing=kernel), ag.device("box"), ag.fallback("cpu"), pytest.raises(RuntimeError) as caught:
        ag.exp(ag.constant(X))
    assert caught.value.__notes__ == [
        f"in the kernel {__name__}.{fails.__qualname__} of plugin 'failing' (registered by the program) for op 'exp' "
        "on device 'cpu:0' with dtype float32, called with float32 (2, 2)"
    ]


# --- what is no way to decline ------------------------------------------------------------------------------------


def test_not_implemented_among_several_outputs() -> None:
    def half(x: Any, **attributes: Any) -> Any:
        return x[:1], NotImplemented

    kernel = Kernel(op="split", device="cpu", fn=half, priority=200)
    with (
        kernels(half=kernel),
        says(
            InternalError,
            f"split: the kernel {__name__}.{half.__qualname__} for device 'cpu' and dtype float32 returned "
            "NotImplementedType; a kernel returns ndarray. This is a bug of the plugin that brings it.",
        ),
    ):
        ag.split(X, 2)


def test_a_wrong_result_of_the_next_kernel_names_that_one() -> None:
    def wrong(x: Any) -> Any:
        return "e"

    below = Kernel(op="exp", device="cpu", fn=wrong, priority=500)
    with (
        kernels(high=declining("exp", [], "high"), below=below),
        says(
            InternalError,
            f"exp: the kernel {__name__}.{wrong.__qualname__} for device 'cpu' and dtype float32 returned str; a "
            "kernel returns ndarray. This is a bug of the plugin that brings it.",
        ),
    ):
        ag.exp(X)


@pytest.mark.parametrize(
    ("result", "got"), [(X, "ndarray"), ((X, X), "2 arrays"), ([X], "list")], ids=["array", "two arrays", "list"]
)
def test_an_update_returns_nothing_or_a_tuple(result: Any, got: str) -> None:
    variable = ag.Variable(X)
    with (
        kernels(wrong=Kernel(op="apply_add", device="cpu", fn=lambda *arrays, **attributes: result, priority=200)),
        says(
            InternalError,
            f"apply_add: the kernel on device 'cpu' returned {got}; it updates its first arrays and returns None, or a "
            "tuple of 1 new arrays.",
        ),
    ):
        variable.assign_add(X)
    np.testing.assert_array_equal(variable.numpy(), X)

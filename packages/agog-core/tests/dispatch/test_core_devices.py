"""Devices: names, scopes, missing ones, broken backends, and where ops run and copies go."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices import lookup as devices
from agog_core.dispatch.devices.backends import backends
from agog_core.dispatch.plugins.loader import loader
from agog_core.errors import InvalidArgumentError
from agog_core.plugin import Backend, hookimpl
from agog_testing import says

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
needs_fake = pytest.mark.skipif(
    ag.count_devices("fake") < 2, reason='the plugin "fake" with its two devices is not loaded'
)
without_gpu = pytest.mark.skipif(ag.count_devices("gpu") > 0, reason="there is a GPU")


@pytest.fixture(autouse=True)
def _outside_of_all_scopes() -> Iterator[None]:
    """The suite may run inside of a device's scope; these tests choose their devices themselves."""
    with ag.device(None):
        yield


def unknown(device: str, why: str | None) -> str:
    usable = ", ".join(name.split("device:")[1].lower() for name in ag.list_devices())
    lines = [f"/job:localhost/replica:0/task:0/device:{device.upper()} unknown device."]
    lines += [f"  why: {why}"] if why else []
    return "\n".join([*lines, f"  devices: {usable}", "`agog plugins` lists the plugins and their devices."])


# --- names and scopes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *["cpu", "CPU", "cpu:0", "CPU:0", "/cpu:0", "/device:CPU:0", "device:cpu:0", "/device:cpu", "/cpu:*"],
        *["/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/cpu:0"],
    ],
)
def test_names_of_one_device(name: str) -> None:
    with ag.device(name):
        assert ag.constant(1.0).device == CPU
        assert ag.zeros([2]).device == CPU
        assert ag.Variable(1.0).device == CPU
    assert devices.get_device(name).name == CPU


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        (3, ValueError, "Expecting a string device name. Got <class 'int'>(3)"),
        (["cpu"], ValueError, "Expecting a string device name. Got <class 'list'>(['cpu'])"),
        (
            len,
            RuntimeError,
            "tf.device does not support functions: a device function chooses by graph node, and here ops run at once.",
        ),
        ("cpu:x", ValueError, "Unknown attribute: 'cpu:x' is not a device name; names look like '/cpu:0' or 'gpu:1'."),
        (
            "cpu:-1",
            ValueError,
            "Unknown attribute: 'cpu:-1' is not a device name; names look like '/cpu:0' or 'gpu:1'.",
        ),
        (
            "cpu:0\n",
            ValueError,
            "Unknown attribute: 'cpu:0\\n' is not a device name; names look like '/cpu:0' or 'gpu:1'.",
        ),
        (
            "/job:worker/cpu:0",
            ValueError,
            "Unknown attribute: '/job:worker/cpu:0' is not a device name; names look like '/cpu:0' or 'gpu:1'.",
        ),
        ("pu:0", ValueError, "Unknown attribute: 'pu' in 'pu:0'; the device types are {types}."),
    ],
    ids=repr,
)
def test_wrong_names(name: Any, kind: type[Exception], text: str) -> None:
    types = ", ".join(sorted({"cpu", "gpu", *devices.device_types()}))
    before = devices.scopes.copy()
    with says(kind, text.format(types=types)), ag.device(name):
        pass
    assert devices.scopes == before


def spec() -> tuple[str | None, int | None] | None:
    return devices._scope.get()


def test_scopes_nest_and_merge() -> None:
    before = devices.scopes.copy()
    assert spec() is None
    with ag.device("gpu:1"):
        assert spec() == ("gpu", 1)
        with ag.device("gpu"):
            assert spec() == ("gpu", 1)
            with ag.device("gpu:0"):
                assert spec() == ("gpu", 0)
        with ag.device("cpu"):
            assert spec() == ("cpu", None)
            with ag.device("/gpu:*"):
                assert spec() == ("gpu", None)
        with ag.device(None):
            assert spec() is None
            assert ag.constant(1.0).device == ag.list_devices()[0]
            with ag.device("gpu"):
                assert spec() == ("gpu", None)
        assert spec() == ("gpu", 1)
    assert spec() is None
    assert Counter(devices.scopes) == Counter(before)  # in whatever order: threads leave theirs when they do


def test_a_scope_ends_with_an_error() -> None:
    before = devices.scopes.copy()
    with pytest.raises(KeyError), ag.device("gpu:7"):
        raise KeyError
    assert spec() is None
    assert devices.scopes == before


def test_a_scope_is_a_decorator_too() -> None:
    @ag.device("/cpu:0")
    def make() -> Any:
        return ag.constant(1.0)

    assert make().device == make().device == CPU


def test_threads_and_tasks_have_scopes_of_their_own() -> None:
    seen: list[Any] = []
    with ag.device("gpu:5"):
        thread = threading.Thread(target=lambda: seen.append((spec(), ag.constant(1.0).device)))
        thread.start()
        thread.join()
    assert seen == [(None, ag.list_devices()[0])]

    async def work(number: int) -> Any:
        with ag.device(f"gpu:{number}"):
            await asyncio.sleep(0)
            return spec()

    async def main() -> Any:
        return await asyncio.gather(*(work(number) for number in range(5)))

    assert asyncio.run(main()) == [("gpu", number) for number in range(5)]


# --- missing devices ----------------------------------------------------------------------------------------------


@without_gpu
def test_a_missing_gpu() -> None:
    found = [backend.unavailable() for backend in backends() if backend.device == "gpu"]
    why = found[0] if found else "no installed plugin brings the device type 'gpu'."
    x, v = ag.constant([1.0]), ag.Variable([1.0])
    with ag.device("/gpu:0"):
        for run in (
            lambda: x + x,
            lambda: ag.exp(x),
            lambda: ag.zeros([2]),
            lambda: ag.random_normal([2]),
            lambda: v * 2.0,
        ):
            with says(InvalidArgumentError, unknown("gpu:0", why)):
                run()
        for make in (
            lambda: ag.matmul([[1.0]], [[1.0]]),
            lambda: ag.constant(1.0),
            lambda: ag.convert_to_tensor(1.0),
            lambda: ag.Variable(1.0),
        ):
            with says(RuntimeError, f"Error copying tensor to device: {unknown('gpu:0', why)}"):
                make()
        assert x.numpy().tolist() == [1.0]
    for index in (0, 3):
        with says(RuntimeError, f"Error copying tensor to device: GPU:{index}. {unknown(f'gpu:{index}', why)}"):
            x.gpu(index)
    assert (x + x).numpy().tolist() == [2.0]


def test_a_device_number_that_is_too_high() -> None:
    with ag.device("cpu:9"), says(InvalidArgumentError, unknown("cpu:9", None)):
        ag.zeros([1])


# --- what there is ------------------------------------------------------------------------------------------------


def test_the_default_device() -> None:
    assert ag.list_devices()[0] == CPU
    assert ag.constant(1.0).device == CPU
    assert ag.count_devices("cpu") == 1
    assert ag.count_devices("nothing") == 0
    assert repr(devices.get_device("cpu")) == "<Device cpu:0>"
    assert devices.get_device("cpu").table(ag.float32) is devices.get_device("cpu").table(ag.float32)


def backend(device: str, **changes: Any) -> Backend:
    def none(*arguments: Any) -> None:
        return None

    usual = {"array_type": list, "device_count": lambda: 2, "from_host": none, "to_host": none, "allocate": none}
    usual |= {"copy": none, "synchronize": none, "memory_in_use": none}
    return Backend(**{"device": device, **usual, **changes})


def fails(*arguments: Any) -> Any:
    raise OSError("no driver")


@pytest.fixture
def broken() -> Iterator[None]:
    """Devices that cannot be used, each for a reason of its own; they sort before "cpu"."""

    @hookimpl
    def agog_backends() -> Iterator[Backend]:
        yield backend("a_absent", host_memory=True, unavailable=lambda: "no such card here.")
        yield backend("a_count", host_memory=True, device_count=fails)
        yield backend("a_reason", host_memory=True, unavailable=fails)
        yield backend("a_type", host_memory=True, array_type="no_such_module:Array")
        yield backend("a_zero", host_memory=True, device_count=lambda: 0)

    ag.register_plugin(SimpleNamespace(agog_backends=agog_backends), "broken-backends")
    yield
    ag.unregister_plugin("broken-backends")


@pytest.mark.usefixtures("broken")
def test_broken_backends_harm_no_other() -> None:
    assert ag.list_devices()[0] == CPU
    assert (ag.constant([1.0]) + 1.0).device == CPU
    for device, why in [
        ("a_absent", "no such card here."),
        ("a_count", "its plugin failed: OSError: no driver"),
        ("a_reason", "its plugin failed: OSError: no driver"),
        (
            "a_type",
            "its plugin failed: array_type (no_such_module:Array) could not be loaded: ModuleNotFoundError: No "
            "module named 'no_such_module'",
        ),
        ("a_zero", None),
    ]:
        assert ag.count_devices(device) == 0
        with ag.device(device), says(InvalidArgumentError, unknown(f"{device}:0", why)):
            ag.zeros([1])


def test_the_default_is_the_cpu_whatever_else_is_in_host_memory_unless_that_is_preferred() -> None:
    @hookimpl
    def agog_backends() -> Iterator[Backend]:
        host = {"host_memory": True, "from_host": lambda host, index: host, "to_host": lambda array: array}
        yield backend("abacus", array_type=np.ndarray, **host)

    abacus = CPU.replace("CPU", "ABACUS")
    ag.register_plugin(SimpleNamespace(agog_backends=agog_backends), "abacus")
    before = ag.prefer()
    try:
        for preferred, names in (([], [CPU, abacus]), (["abacus"], [abacus]), (["cpu-numpy", "abacus"], [CPU, abacus])):
            ag.prefer(*preferred)
            assert ag.list_devices()[: len(names)] == names
            assert ag.constant(1.0).device == names[0]
            assert devices.host_device(ag.float32).name == names[0]
    finally:
        ag.prefer(*before)
        ag.unregister_plugin("abacus")
    assert ag.constant(1.0).device == CPU


def test_devices_come_and_go_with_their_plugin() -> None:
    before = ag.list_devices()

    @hookimpl
    def agog_backends() -> Iterator[Backend]:
        yield backend("toy")

    for _ in range(2):
        ag.register_plugin(SimpleNamespace(agog_backends=agog_backends), "toy")
        assert ag.count_devices("toy") == 2
        assert repr(devices.get_device("toy:1")) == "<Device toy:1>"
        ag.unregister_plugin("toy")
        assert ag.list_devices() == before
        with pytest.raises(ValueError, match="'toy' in 'toy:1'"):
            devices.get_device("toy:1")
    assert not any(p.name == "toy" for p in loader().plugins)


# --- several devices ----------------------------------------------------------------------------------------------


def on(device: str, value: Any, dtype: Any = None) -> ag.Tensor:
    with ag.device(device):
        return ag.constant(value, dtype)


def where(x: Any) -> str:
    return str(x.device).split("device:")[1]


@needs_fake
def test_ops_run_where_their_inputs_are() -> None:
    x, y = on("fake:0", [1.0, 2.0]), on("fake:1", [3.0, 4.0])
    c = ag.constant([5.0, 6.0])
    assert (where(x), where(y), where(c)) == ("FAKE:0", "FAKE:1", "CPU:0")
    for result, device, value in [
        (x + 1.0, "FAKE:0", [2, 3]),
        (2.0 * y, "FAKE:1", [6, 8]),
        (ag.exp(x * 0.0), "FAKE:0", [1, 1]),
        (x[1:], "FAKE:0", [2]),
        (x + np.array([1.0, 1.0]), "FAKE:0", [2, 3]),
        (x + c, "FAKE:0", [6, 8]),
        (c + y, "FAKE:1", [8, 10]),
        (x + y, "FAKE:0", [4, 6]),
        (y + x, "FAKE:1", [4, 6]),
        (ag.concat([c, y], 0), "FAKE:1", [5, 6, 3, 4]),
        (ag.zeros_like(y), "FAKE:1", [0, 0]),
        (ag.cast(y, ag.int32), "FAKE:1", [3, 4]),
    ]:
        assert where(result) == device
        assert result.numpy().tolist() == value


@needs_fake
def test_scopes_decide_where_ops_run() -> None:
    x = on("fake:0", [1.0, 2.0])
    with ag.device("cpu"):
        assert where(x + x) == "CPU:0"
        assert where(ag.exp(x)) == "CPU:0"
    with ag.device("fake:1"):
        assert where(x + 1.0) == "FAKE:1"
        assert where(ag.zeros([2])) == "FAKE:1"
        assert where(ag.random_uniform([2])) == "FAKE:1"
        assert where(ag.range(3)) == "FAKE:1"
        with ag.device(None):
            assert where(x + 1.0) == "FAKE:0"
            assert where(ag.zeros([2])) == "CPU:0"


@needs_fake
def test_copies() -> None:
    x = on("fake:1", [1.0, 2.0])
    assert where(x.cpu()) == "CPU:0"
    assert x.cpu().numpy().tolist() == [1.0, 2.0]
    assert str(x) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
    assert np.square(x).tolist() == [1.0, 4.0]
    host = x.numpy()
    assert not host.flags.writeable
    for dtype in ("float16", "bfloat16", "float64", "int32", "bool"):
        y = on("fake:0", ag.cast([0, 1], dtype).numpy())
        assert y.dtype.name == dtype
        assert y.cpu().numpy().tolist() == [0, 1]


@needs_fake
def test_gradients_are_copied_back() -> None:
    x, y, c = on("fake:0", [1.0, 2.0]), on("fake:1", [3.0, 4.0]), ag.constant([5.0, 6.0])
    with ag.GradientTape() as tape:
        tape.watch([x, y, c])
        z = ag.reduce_sum((x * y).cpu() * c) + ag.reduce_sum(x * c)
    gradients = tape.gradient(z, [x, y, c])
    assert [where(g) for g in gradients] == ["FAKE:0", "FAKE:1", "CPU:0"]
    assert [g.numpy().tolist() for g in gradients] == [[20.0, 30.0], [5.0, 12.0], [4.0, 10.0]]


@needs_fake
def test_second_derivatives_across_devices() -> None:
    x, y = on("fake:0", 2.0), on("fake:1", 3.0)
    with ag.GradientTape() as outer:
        outer.watch([x, y])
        with ag.GradientTape() as inner:
            inner.watch(x)
            z = x * x * y * y
        first = inner.gradient(z, x)
    dxx, dxy = outer.gradient(first, [x, y])
    assert [(where(g), float(g)) for g in (first, dxx, dxy)] == [("FAKE:0", 36.0), ("FAKE:0", 18.0), ("FAKE:1", 24.0)]


@needs_fake
def test_unconnected_zeros_are_where_the_source_is() -> None:
    x, y = on("fake:0", 2.0), on("fake:1", [3.0])
    with ag.GradientTape() as tape:
        tape.watch([x, y])
        z = x * x
    dx, dy = tape.gradient(z, [x, y], unconnected_gradients="zero")
    assert (where(dx), where(dy)) == ("FAKE:0", "FAKE:1")


@needs_fake
def test_variables_stay_on_their_device() -> None:
    with ag.device("fake:1"):
        v = ag.Variable([1.0, 2.0])
    assert where(v) == where(v.value()) == "FAKE:1"
    v.assign([3.0, 4.0])
    v.assign_add(ag.constant([1.0, 1.0]))
    v.assign_sub(on("fake:0", [0.5, 0.5]))
    with ag.device("cpu"):
        v.assign_add([1.0, 1.0])
        assert where(v + 1.0) == "CPU:0"
        w = ag.Variable(v)
    assert (where(v), where(w)) == ("FAKE:1", "CPU:0")
    assert v.numpy().tolist() == w.numpy().tolist() == [4.5, 5.5]
    (gradient, _), *_ = ag.implicit_gradients(lambda: v * v * w)()
    assert where(gradient) == "FAKE:1"


@needs_fake
def test_values_read_from_a_variable_elsewhere_do_not_change() -> None:
    with ag.device("fake:0"):
        v = ag.Variable(np.ones(100))
    held = [v.value(), v[10:20], ag.reshape(v, (10, 10)), v[::-1], ag.identity(v), ag.split(v, 4)[1], v.value().cpu()]
    host = v.numpy()
    for _ in range(3):
        v.assign_add(np.ones(100))
    assert all((x.numpy() == 1.0).all() for x in held)
    assert (host == 1.0).all()
    assert (v.numpy() == 4.0).all()


@needs_fake
def test_dtype_errors_are_the_same_elsewhere() -> None:
    x = on("fake:0", [1.0])
    with says(
        InvalidArgumentError,
        "add: x has dtype float32 and y has dtype int32 (shapes (1,) and (1,)), but they must be of one dtype; cast "
        "one of them, such as tf.cast(y, tf.float32).",
    ):
        x + ag.constant([1])


@pytest.mark.parametrize("name", ["", "/job:localhost", "/job:localhost/replica:0/task:0", ag.DeviceSpec()], ids=str)
def test_a_name_that_leaves_all_open_is_the_scope_around(name: Any) -> None:
    with ag.device("/gpu:1"), ag.device(name):
        assert spec() == ("gpu", 1)
    with ag.device(name):
        assert ag.constant(1.0).device == devices.default_device().name

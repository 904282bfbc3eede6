"""What programs do with a device: choose it, compute and differentiate on it, copy to and from it."""

from __future__ import annotations

import numpy as np
import pytest

import agog_core as ag
import agog_fake
from agog_fake import FakeArray

FAKE_0, FAKE_1 = (f"/job:localhost/replica:0/task:0/device:FAKE:{index}" for index in range(2))


def test_two_devices_are_listed() -> None:
    assert ag.list_devices()[-2:] == [FAKE_0, FAKE_1]
    assert ag.count_devices("fake") == 2


def test_third_device_does_not_exist() -> None:
    with ag.device("fake:2"), pytest.raises(ag.errors.InvalidArgumentError) as caught:
        ag.zeros([1])
    assert str(caught.value).startswith("/job:localhost/replica:0/task:0/device:FAKE:2 unknown device.\n")


def test_scope_decides_where_tensors_live() -> None:
    with ag.device("fake:1"):
        x = ag.constant([1.0])
        v = ag.Variable([1.0])
    assert isinstance(x._array, FakeArray)
    assert (x.device, v.device) == (FAKE_1, FAKE_1)
    assert x._array.index == 1


def test_op_runs_where_its_inputs_are() -> None:
    with ag.device("fake:1"):
        x = ag.constant([1.0, 2.0])
    y = ag.square(x) + 1.0
    assert y.device == FAKE_1
    assert y.numpy().tolist() == [2.0, 5.0]


def test_inputs_of_two_devices_are_brought_together() -> None:
    with ag.device("fake:0"):
        x = ag.constant([1.0, 2.0])
    with ag.device("fake:1"):
        y = ag.constant([10.0, 20.0])
        total = ag.add(x, y)
    assert total.device == FAKE_1
    assert total.numpy().tolist() == [11.0, 22.0]


def test_gradient_stays_on_the_device() -> None:
    with ag.device("fake:0"):
        x = ag.constant([1.0, 2.0, 3.0])
        with ag.GradientTape() as outer:
            outer.watch(x)
            with ag.GradientTape() as inner:
                inner.watch(x)
                y = ag.reduce_sum(x * x * x)
            first = inner.gradient(y, x)
        second = outer.gradient(first, x)
    assert (first.device, second.device) == (FAKE_0, FAKE_0)
    np.testing.assert_allclose(first.numpy(), [3.0, 12.0, 27.0])
    np.testing.assert_allclose(second.numpy(), [6.0, 12.0, 18.0])


def test_gradient_crosses_devices() -> None:
    x = ag.constant([1.0, 2.0])
    with ag.GradientTape() as tape:
        tape.watch(x)
        with ag.device("fake:0"):
            y = ag.square(x)
        with ag.device("fake:1"):
            z = ag.square(y)
    gradient = tape.gradient(z, x)
    assert gradient.device == x.device
    assert gradient.numpy().tolist() == [4.0, 32.0]


def test_training_steps_need_no_copies() -> None:
    with ag.device("fake:0"):
        x = ag.constant([[1.0, 2.0], [3.0, 4.0]])
        w = ag.Variable([[1.0], [1.0]])
        b = ag.Variable([0.0])

        def step() -> None:
            with ag.GradientTape() as tape:
                loss = ag.reduce_mean(ag.square(ag.matmul(x, w) + b - 1.0))
            for variable, gradient in zip((w, b), tape.gradient(loss, [w, b]), strict=True):
                variable.assign_sub(gradient * 0.01)

        step()  # Python numbers are copied once and kept
        agog_fake.reset_copies()
        step()
        assert agog_fake.copies() == agog_fake.Copies()
        before = w.numpy()
        step()
        assert not np.array_equal(w.numpy(), before)


def test_variable_keeps_values_that_were_read() -> None:
    with ag.device("fake:0"):
        v = ag.Variable([1.0, 2.0])
    read, host = v.value(), v.numpy()
    v.assign_add([1.0, 1.0])
    assert read.numpy().tolist() == host.tolist() == [1.0, 2.0]
    assert v.numpy().tolist() == [2.0, 3.0]


def test_large_seed_of_a_gradient_is_made_on_the_device() -> None:
    with ag.device("fake:0"):
        x = ag.ones([101, 100])
        agog_fake.reset_copies()
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = ag.exp(x)
        tape.gradient(y, x)
    assert agog_fake.copies() == agog_fake.Copies()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_random_numbers_are_those_of_the_cpu(dtype: str) -> None:
    draws = []
    for device in ("cpu:0", "fake:0", "fake:1"):
        ag.set_random_seed(5)
        with ag.device(device):
            first = ag.random_uniform([7], maxval=100, dtype=dtype)
            second = ag.random_uniform([7], maxval=100, dtype=dtype, seed=3)
        draws.append((first.numpy().tolist(), second.numpy().tolist()))
    assert draws[0] == draws[1] == draws[2]
    assert len(set(map(str, draws[0]))) == 2


def test_random_normals_are_those_of_the_cpu() -> None:
    draws = []
    for device in ("cpu:0", "fake:0"):
        ag.set_random_seed(5)
        with ag.device(device):
            draws.append(ag.random_normal([1001]).numpy().tobytes())
    assert draws[0] == draws[1]

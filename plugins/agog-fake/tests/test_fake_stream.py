"""Work runs late and in order, errors of values wait, and a thread has to set its device."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.lookup import clear_tables, get_device
from agog_core.errors import InvalidArgumentError
from agog_fake import backend, kernels
from agog_fake.array import FakeArray
from agog_fake.stream import LENGTH, Stream, on, streams
from agog_testing import says

OUT_OF_RANGE = "gather: indices[0] = 7 is not in [0, 2): params has shape (2,), and the axis is 0."


@pytest.fixture(autouse=True)
def _nothing_waits() -> None:
    for index in (0, 1):
        streams[index].invalid()


def fake_array(*values: float, index: int = 0, dtype: Any = np.float32) -> FakeArray:
    return backend.from_host(np.array(values, dtype), index)


def test_results_have_shapes_at_once_and_values_later() -> None:
    x = fake_array(1.0, 2.0)
    with on(0):
        y = kernels.square(x)
    assert (y.shape, y.dtype) == ((2,), np.float32)
    assert y.memory.tobytes() == b"\xa5" * 8  # noise, as nothing has been written yet
    assert backend.to_host(y).tolist() == [1.0, 4.0]


def test_host_arrays_are_read_late() -> None:
    """Who writes a host array after it was handed over is found out."""
    host = np.array([1.0, 2.0], np.float32)
    array = backend.from_host(host, 0)
    host[0] = 7
    assert backend.to_host(array).tolist() == [7.0, 2.0]


def test_what_agog_copies_may_be_written() -> None:
    host = np.array([1.0, 2.0], np.float32)
    with ag.device("fake:0"):
        x = ag.constant(host)
    host[0] = 7
    assert x.numpy().tolist() == [1.0, 2.0]


def test_work_is_done_in_order() -> None:
    done: list[int] = []
    with on(0) as stream:
        for number in range(3):
            stream.add("count", lambda number=number: done.append(number))
        assert done == []
        stream.run()
    assert done == [0, 1, 2]


def test_much_work_runs_unasked() -> None:
    done: list[int] = []
    stream = Stream(0)
    with on(0):
        for number in range(LENGTH):
            stream.add("count", lambda number=number: done.append(number))
        assert done == []
        stream.add("count", lambda: done.append(LENGTH))
    assert done == list(range(LENGTH + 1))


def test_result_of_unknown_size_waits() -> None:
    x = fake_array(0.0, 2.0, 3.0)
    with on(0):
        places = kernels.argwhere(x)
    assert places.shape == (2, 1)


def test_copy_to_another_device_waits_for_what_was_asked_before_and_not_after() -> None:
    x = fake_array(1.0, 2.0)
    copied = backend.copy_from(x, 0, 1)
    with on(0):
        kernels.apply_add(x, x, scale=1)
        later: list[bool] = []
        streams[0].add("later", lambda: later.append(True))
    assert copied.index == 1
    assert backend.to_host(copied).tolist() == [1.0, 2.0]
    assert later == []
    assert backend.to_host(x).tolist() == [2.0, 4.0]


def test_index_errors_wait_until_somebody_asks() -> None:
    with ag.device("fake:0"):
        rows = ag.gather([1.0, 2.0], [7])
        after = ag.add(rows, 1.0)
    assert rows.shape == (1,)
    with says(InvalidArgumentError, OUT_OF_RANGE):
        after.numpy()
    assert ag.square(ag.constant(2.0)).numpy() == 4.0  # it is told once


def test_synchronize_tells_too() -> None:
    with ag.device("fake:0"):
        ag.gather([1.0, 2.0], [7])
    with says(InvalidArgumentError, OUT_OF_RANGE):
        get_device("fake:0").synchronize()


def test_checked_calls_tell_at_once_and_name_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CHECK", "1")
    clear_tables()
    with ag.device("fake:0"):
        params, indices = ag.constant([1.0, 2.0]), ag.constant([7])
        try:
            with says(InvalidArgumentError, OUT_OF_RANGE) as caught:
                ag.gather(params, indices)
            (note,) = caught.value.__notes__
            assert note.endswith(
                "for op 'gather' on device 'fake:0' with dtype float32, called with float32 (2,), int32 (1,)"
            )
        finally:
            clear_tables()


def test_labels_out_of_range_and_the_gradient() -> None:
    with ag.device("fake:0"):
        logits = ag.Variable([[1.0, 2.0]])
        with ag.GradientTape() as tape:
            loss = ag.nn.sparse_softmax_cross_entropy_with_logits(labels=ag.constant([5]), logits=logits)
        gradient = tape.gradient(loss, logits)
    with says(
        InvalidArgumentError,
        "sparse_softmax_cross_entropy: Received a label value of 5 which is outside the valid range of [0, 2).",
    ):
        gradient.numpy()


def test_other_errors_come_at_once() -> None:
    with ag.device("fake:0"), says(InvalidArgumentError, "matrix_inverse: Input is not invertible."):
        ag.matrix_inverse([[0.0, 0.0], [0.0, 0.0]])


def test_fault_of_a_kernel_comes_late_with_its_name() -> None:
    with on(0) as stream:
        stream.add("levitate", lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError) as caught:
            stream.run()
        stream.run()  # it is raised once
    assert caught.value.__notes__ == ["fake:0 ran levitate late; it was asked to earlier."]


def test_kernel_that_breaks_the_rules_of_its_op_is_found() -> None:
    from agog_fake.launch import on_device

    broken = on_device("square", lambda x: x[:1])
    with on(0):
        broken(fake_array(1.0, 2.0))
        with pytest.raises(TypeError) as caught:
            backend.synchronize(0)
    assert str(caught.value) == (
        "the op's rules say shape (2,) and dtype float32; the kernel computed shape (1,) and dtype float32."
    )


def in_thread(function: Any) -> Exception:
    caught: list[Exception] = []

    def run() -> None:
        try:
            function()
        except Exception as error:
            caught.append(error)

    thread = Thread(target=run, name="worker")
    thread.start()
    thread.join()
    return caught[0]


def test_thread_that_has_set_no_device_is_found() -> None:
    x = fake_array(1.0)
    with on(0):  # what one thread has set is nothing to another
        error = in_thread(lambda: kernels.square(x))
    assert (type(error), str(error)) == (
        RuntimeError,
        "square: thread 'worker' gives work to fake:0, and has set no device; a thread sets the device first, as the "
        "kernels do that Backend.bind returns.",
    )


def test_thread_that_has_set_another_device_is_found() -> None:
    x = fake_array(1.0)
    with (
        on(1),
        says(
            RuntimeError,
            "square: thread 'MainThread' gives work to fake:0, and has set fake:1; a thread sets the device first, as "
            "the kernels do that Backend.bind returns.",
        ),
    ):
        kernels.square(x)


def test_ops_run_in_any_thread() -> None:
    with ag.device("fake:1"):
        x = ag.constant([1.0, 2.0])
    results: list[Any] = []
    with on(0):
        thread = Thread(target=lambda: results.append(ag.square(x).numpy().tolist()))
        thread.start()
        thread.join()
        results.append(ag.square(x).numpy().tolist())
    assert results == [[1.0, 4.0], [1.0, 4.0]]


def test_timer_counts_the_work_between(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(100))
    monkeypatch.setattr("agog_fake.stream.perf_counter", lambda: float(next(ticks)))
    x = fake_array(1.0)
    stop = backend.timer(0)  # what was asked before does not count
    with on(0):
        kernels.square(kernels.square(x))
    assert stop() == 2.0


def test_foreign_dtypes_stay_on_the_host() -> None:
    with ag.device("fake:0"):
        text, numbers = ag.constant([b"a", b"b"]), ag.constant([1.0, 2.0], dtype="bfloat16")
        joined = ag.string_join([text, text])
        halves = ag.constant([1.0, 2.0])
    cpu = "/job:localhost/replica:0/task:0/device:CPU:0"
    assert [text.device, numbers.device, joined.device] == [cpu] * 3
    assert halves.device.endswith("FAKE:0")
    assert (ag.square(numbers).numpy().tolist(), joined.numpy().tolist()) == ([1.0, 4.0], [b"aa", b"bb"])


def test_results_that_the_device_does_not_hold_go_to_the_host() -> None:
    with ag.device("fake:0"):
        x = ag.constant([1, 2])
        numbers, text = ag.cast(x, "bfloat16"), ag.as_string(x)
    assert (numbers.numpy().tolist(), text.numpy().tolist()) == ([1.0, 2.0], [b"1", b"2"])
    assert [each.device.rpartition("/device:")[2] for each in (x, numbers, text)] == ["FAKE:0", "CPU:0", "CPU:0"]

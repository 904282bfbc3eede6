"""Changes of parts of variables: scatters, slices, rows; what was read before keeps its value."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.lookup import get_device
from agog_core.errors import InvalidArgumentError
from agog_testing import says

SEED = 17
FUNCTIONS: dict[str, Any] = {
    "update": lambda old, new: new,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}


def _by_hand(start: Any, places: Any, updates: Any, function: Any) -> Any:
    whole = start.copy()
    for place, update in zip(places, updates, strict=True):
        whole[place] = function(whole[place], update)
    return whole


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [(), (4,), (2, 2)])
def test_scatter(name: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(SEED)
    start, indices = rng.uniform(1, 2, (5, 3)), rng.permutation(4)[: int(np.prod(shape))].reshape(shape)
    if name != "update":
        indices = indices // 2  # some rows twice
    updates = rng.uniform(1, 2, (*shape, 3))
    v = ag.Variable(start)
    assert getattr(ag, f"scatter_{name}")(v, indices, updates) is v
    expected = _by_hand(start, indices.reshape(-1), updates.reshape(-1, 3), FUNCTIONS[name])
    np.testing.assert_allclose(v.numpy(), expected, rtol=1e-14, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("name", ["update", "add", "sub"])
def test_scatter_nd(name: str) -> None:
    rng = np.random.default_rng(SEED)
    start, places = rng.uniform(size=(3, 4)), [(0, 1), (2, 3), (1, 0)]
    updates = rng.uniform(size=3)
    v, w = ag.Variable(start), ag.Variable(start)
    assert getattr(ag, f"scatter_nd_{name}")(v, places, updates) is v
    assert getattr(w, f"scatter_nd_{name}")(places, updates) is w
    expected = _by_hand(start, places, updates, FUNCTIONS[name])
    np.testing.assert_allclose(v.numpy(), expected, rtol=1e-15)
    np.testing.assert_allclose(w.numpy(), expected, rtol=1e-15)


@pytest.mark.parametrize("name", ["update", "add", "sub"])
def test_methods_that_take_indexed_slices(name: str) -> None:
    v = ag.Variable([[1.0], [2.0], [3.0]])
    rows = ag.IndexedSlices([[5.0], [7.0]], [2, 0], (3, 1))
    assert getattr(v, f"scatter_{name}")(rows) is v
    expected = _by_hand(np.array([1.0, 2.0, 3.0]), [2, 0], [5.0, 7.0], FUNCTIONS[name])
    assert v.numpy().reshape(-1).tolist() == expected.tolist()
    with says(
        ValueError,
        f"scatter_{name}: sparse_delta must be IndexedSlices; got list. Use assign for whole values, or "
        f"tf.scatter_{name} for indices and updates.",
    ):
        getattr(v, f"scatter_{name}")([1.0])


def test_a_scalar_updates_all_rows() -> None:
    v = ag.Variable([1, 2, 3])
    assert ag.scatter_add(v, [0, 2], 10).numpy().tolist() == [11, 2, 13]


def test_sparse_read_is_seen_by_tapes() -> None:
    v = ag.Variable([[1.0], [2.0], [3.0]])
    with ag.GradientTape() as tape:
        rows = v.sparse_read([2, 2])
    assert rows.numpy().tolist() == [[3.0], [3.0]]
    assert tape.gradient(rows, v).numpy().tolist() == [[0.0], [0.0], [2.0]]


def test_what_was_read_before_a_scatter_keeps_its_value() -> None:
    v = ag.Variable([1.0, 2.0, 3.0])
    whole, array, part = v.value(), v.numpy(), v[1:]
    ag.scatter_update(v, [1], [9.0])
    v[0].assign(8.0)
    v[2:] = 7.0
    assert v.numpy().tolist() == [8.0, 9.0, 7.0]
    assert whole.numpy().tolist() == array.tolist() == [1.0, 2.0, 3.0]
    assert part.numpy().tolist() == [2.0, 3.0]


def test_a_scatter_of_a_variables_own_rows() -> None:
    v = ag.Variable([1.0, 2.0, 3.0])
    ag.scatter_update(v, [0, 1], v[1:])
    assert v.numpy().tolist() == [2.0, 3.0, 3.0]


def test_a_failed_scatter_changes_nothing_and_locks_nobody_out() -> None:
    v = ag.Variable([1.0, 2.0, 3.0])
    with says(InvalidArgumentError, "scatter_variable: indices[1] = [3] does not index into a variable of shape (3,)."):
        ag.scatter_add(v, [0, 3], [1.0, 1.0]).numpy()  # a device may tell late
    read: list[Any] = []
    thread = threading.Thread(target=lambda: read.append(v.numpy().tolist()))
    thread.start()
    thread.join(10)
    assert len(read) == 1
    if get_device(v.device).backend.pending_error is None:  # it is told before anything is written
        assert read == [[1.0, 2.0, 3.0]]


def test_rows_are_updated_in_place_where_nobody_else_holds_them() -> None:
    v = ag.Variable(np.zeros(5))
    before = v._current()._array.ctypes.data if hasattr(v._current()._array, "ctypes") else None
    if before is None:
        pytest.skip("this device's arrays do not tell where they lie")
    ag.scatter_add(v, [1, 1], [1.0, 2.0])
    v[3:] = 4.0
    v[0].assign(5.0)
    v[:2].assign_add([1.0, 2.0])
    assert v._current()._array.ctypes.data == before
    assert v.numpy().tolist() == [6.0, 5.0, 0.0, 4.0, 4.0]


def test_assignment_to_slices() -> None:
    v = ag.Variable(np.arange(6.0).reshape(2, 3))
    assert v[0].assign([7.0, 8.0, 9.0]) is v
    v[1, 1:3].assign_add([10.0, 20.0])
    v[..., 0].assign_sub([1.0, 1.0])
    v[1, 0].assign(ag.constant(5.0, ag.float64))
    assert v.numpy().tolist() == [[6.0, 8.0, 9.0], [5.0, 14.0, 25.0]]
    v[:, ::-2] = [[1.0, 2.0], [3.0, 4.0]]
    assert v.numpy().tolist() == [[2.0, 8.0, 1.0], [4.0, 14.0, 3.0]]
    v[1] += 1.0
    assert v.numpy().tolist() == [[2.0, 8.0, 1.0], [5.0, 15.0, 4.0]]


def test_a_slice_of_a_variable_is_a_plain_tensor() -> None:
    v = ag.Variable([1.0, 2.0])
    part = v[0]
    assert type(part) is ag.Tensor
    with ag.GradientTape() as tape:
        y = v[0] * v[1]
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 1.0]
    v[0].assign(9.0)
    assert part.numpy() == 1.0


def test_a_slice_keeps_its_variable_not_alive() -> None:
    v = ag.Variable([1.0, 2.0])
    alive, part = weakref.ref(v), v[0]
    del v
    gc.collect()
    assert alive() is None
    with says(ReferenceError, "The variable that this slice was cut from is gone; keep a reference to it."):
        part.assign(1.0)


def test_other_tensors_cannot_be_assigned_to() -> None:
    v = ag.Variable([1.0, 2.0])
    for tensor in (ag.constant([1.0])[0], v.value(), v[0] + 1.0, v[[0, 1]]):
        assert not hasattr(tensor, "assign")
    with says(
        AttributeError,
        "A tensor has no 'assign': its value never changes. A slice of a variable has it, such as v[0].assign(x), when "
        "it is cut out by ints and slices; for rows use tf.scatter_update.",
    ):
        v[[0]].assign([1.0])
    with says(
        TypeError,
        "Variable 'Variable:0' cannot be assigned to by masks and arrays of positions; use tf.scatter_update or "
        "tf.scatter_nd_update.",
    ):
        v[[0]] = 1.0


def test_values_of_the_wrong_dtype() -> None:
    v = ag.Variable([1.0, 2.0])
    with says(
        InvalidArgumentError,
        "assign_slice: variable 'Variable:0' has dtype float32 and the value has dtype int32; cast it with "
        "tf.cast(value, tf.float32).",
    ):
        v[0].assign(ag.constant(1))


def test_batch_scatter_update() -> None:
    rng = np.random.default_rng(SEED)
    start, updates = rng.uniform(size=(2, 3, 4, 2)), rng.uniform(size=(2, 3, 2, 2))
    indices = np.array([[[0, 1], [3, 2], [1, 3]], [[2, 0], [0, 3], [1, 2]]])
    expected = start.copy()
    for batch in np.ndindex(2, 3):
        expected[batch][indices[batch]] = updates[batch]
    v = ag.Variable(start)
    assert ag.batch_scatter_update(v, indices, updates) is v
    assert np.array_equal(v.numpy(), expected)
    w = ag.Variable([1.0, 2.0])
    assert ag.batch_scatter_update(w, [1], [5.0]).numpy().tolist() == [1.0, 5.0]
    with says(
        InvalidArgumentError,
        "batch_scatter_update: indices of shape (1, 3, 2) do not fit a variable of shape (2, 3, 4, 2); both must begin "
        "with the batch's shape.",
    ):
        ag.batch_scatter_update(v, indices[:1], updates[:1])

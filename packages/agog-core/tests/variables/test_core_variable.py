"""Variable: construction, texts, assignment, Python protocols."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.variables import global_step
from agog_testing import says


def test_texts() -> None:
    assert repr(ag.Variable([1.0, 2.0], name="v")) == (
        "<tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    )
    assert str(ag.Variable(3)) == "<tf.Variable 'Variable:0' shape=() dtype=int32, numpy=3>"


def test_names_are_not_made_unique() -> None:
    first, second = ag.Variable(1.0, name="w"), ag.Variable(1.0, name="w")
    assert first.name == second.name == "w:0"
    assert first != second
    assert first == first
    assert len({first, second}) == 2
    assert first != 1.0


@pytest.mark.parametrize(
    ("initial", "dtype", "name", "shape"),
    [
        *[(1.0, None, "float32", ()), (1, None, "int32", ()), ([True], None, "bool", (1,)), ("a", None, "string", ())],
        *[
            (np.zeros((2, 3)), None, "float64", (2, 3)),
            (1, "float64", "float64", ()),
            ([1, 2], ag.int64, "int64", (2,)),
        ],
        *[
            (lambda: [1.0, 2.0], None, "float32", (2,)),
            (lambda: 3, "float32", "float32", ()),
            ([], None, "float32", (0,)),
        ],
    ],
)
def test_construction(initial: Any, dtype: Any, name: str, shape: tuple[int, ...]) -> None:
    v = ag.Variable(initial, dtype=dtype)
    assert (v.dtype.name, v.shape) == (name, shape)
    assert v.get_shape() == shape
    assert v.trainable
    assert v.constraint is None


def test_construction_errors() -> None:
    with says(ValueError, "Variable: initial_value must be specified; got None."):
        ag.Variable(None)  # type: ignore[arg-type]  # the error is the point
    with says(
        TypeError,
        "Cannot convert a value of dtype float64 and shape () to a Tensor of dtype int32 without losing something; "
        "convert it first.",
    ):
        ag.Variable(1.5, dtype=ag.int32)


def test_the_initial_value_is_copied() -> None:
    array = np.array([1.0, 2.0])
    v = ag.Variable(array)
    array[:] = 9
    assert v.numpy().tolist() == [1.0, 2.0]
    x = ag.constant([1.0, 2.0])
    w, u = ag.Variable(x), ag.Variable(v)
    w.assign_add([1.0, 1.0])
    v.assign_add([1.0, 1.0])
    assert x.numpy().tolist() == [1.0, 2.0]
    assert u.numpy().tolist() == [1.0, 2.0]
    assert w.numpy().tolist() == [2.0, 3.0]


def test_a_constraint_is_kept_for_optimizers() -> None:
    v = ag.Variable(-1.0, constraint=ag.abs)
    assert v.constraint is ag.abs
    assert float(v) == -1.0


# --- reading ------------------------------------------------------------------------------------------------------


def test_reading() -> None:
    v = ag.Variable([1.0, 2.0])
    for x in (v.value(), v.read_value(), v.initialized_value(), ag.convert_to_tensor(v)):
        assert isinstance(x, ag.Tensor)
        assert x.numpy().tolist() == [1.0, 2.0]
    v.set_shape((None,))
    with pytest.raises(ValueError, match="compatible"):
        v.set_shape((3,))
    assert v.device == v.value().device


def test_python_protocols() -> None:
    v, n, flag = ag.Variable(2.5), ag.Variable(7), ag.Variable(True)
    assert float(v) == 2.5
    assert int(n) == 7
    assert bool(flag) is True
    assert ["a", "b"][ag.Variable(1)] == "b"
    assert f"{v:.2f}" == "2.50"
    assert f"{v}" == repr(v)
    assert "%.1f" % v == "2.5"  # noqa: UP031
    assert len(ag.Variable([1, 2, 3])) == 3
    assert [int(x) for x in ag.Variable([1, 2, 3])] == [1, 2, 3]
    assert ag.Variable([1, 2, 3])[-1].numpy() == 3


def test_numpy() -> None:
    v = ag.Variable([1.0, 2.0])
    assert np.asarray(v).tolist() == [1.0, 2.0]
    assert np.array(v).dtype == np.float32
    assert np.square(v).tolist() == [1.0, 4.0]
    host = v.numpy()
    assert not host.flags.writeable
    copied = np.array(v)
    copied[:] = 9
    assert v.numpy().tolist() == [1.0, 2.0]
    total = np.array([1.0, 2.0], np.float32) + v
    assert isinstance(total, ag.Tensor)
    assert total.numpy().tolist() == [2.0, 4.0]


def test_operators() -> None:
    v, w = ag.Variable([4.0, 9.0]), ag.Variable([2.0, 3.0])
    for got, expected in [
        *[(v + w, [6, 12]), (v - 1, [3, 8]), (1 - v, [-3, -8]), (v * 2.0, [8, 18]), (2 * v, [8, 18])],
        *[(v / w, [2, 3]), (8 / w, [4, 8 / 3]), (v // w, [2, 3]), (v % 5.0, [4, 4]), (w**2, [4, 9])],
        *[(-v, [-4, -9]), (abs(-v), [4, 9]), (v > w, [True, True]), (v <= 4.0, [True, False]), (v[::-1], [9, 4])],
    ]:
        assert isinstance(got, ag.Tensor)
        assert np.allclose(got.numpy(), expected)
    eye = ag.Variable(np.eye(2, dtype=np.float32))
    assert (eye @ [[1.0], [2.0]]).numpy().tolist() == [[1.0], [2.0]]


# --- assignment ---------------------------------------------------------------------------------------------------


def test_assignment() -> None:
    v = ag.Variable([1.0, 2.0])
    assert v.assign([5.0, 6.0]) is v
    assert v.assign_add([1.0, 1.0]) is v
    assert v.assign_sub(ag.constant([2.0, 4.0])) is v
    assert v.numpy().tolist() == [4.0, 3.0]
    v.assign(np.array([1, 2]))
    assert v.numpy().tolist() == [1.0, 2.0]
    assert v.dtype is ag.float32
    v.assign(ag.Variable([7.0, 8.0]))
    v.assign_add(v)
    assert v.numpy().tolist() == [14.0, 16.0]
    v.assign(v)
    assert v.numpy().tolist() == [14.0, 16.0]


def test_augmented_assignment_assigns_in_place() -> None:
    v = before = ag.Variable(1.0)
    v += 2.0
    v -= 0.5
    assert v is before
    assert float(v) == 2.5


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "int64", "uint8"])
def test_assignment_in_every_kind_of_dtype(dtype: str) -> None:
    v = ag.Variable([1, 2], dtype=dtype)
    v.assign_add([3, 4])
    v.assign_sub([1, 1])
    v += [1, 1]
    assert v.numpy().tolist() == [4, 6]
    assert v.dtype.name == dtype


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_assignment_errors_leave_the_value(method: str) -> None:
    instead = {"assign_add": "v + value", "assign_sub": "v - value"}.get(method, "tf.broadcast_to(value, v.shape)")
    hint = f", since assignments do not broadcast: write v.assign({instead})."
    v, n = ag.Variable([1.0, 2.0], name="v"), ag.Variable(1, name="n")
    for variable, value, kind, text in [
        (
            v,
            [1.0],
            ValueError,
            f"{method}: Shapes (2,) and (1,) are incompatible: variable 'v:0' has the first, the value the second. "
            f"The shapes must be equal{hint}",
        ),
        (
            v,
            1.0,
            ValueError,
            f"{method}: Shapes (2,) and () are incompatible: variable 'v:0' has the first, the value the second. "
            f"The shapes must be equal{hint}",
        ),
        (
            v,
            [1.0, 2.0, 3.0],
            ValueError,
            f"{method}: Shapes (2,) and (3,) are incompatible: variable 'v:0' has the first, the value the second. "
            "The shapes must be equal.",
        ),
        (
            v,
            [[1.0, 2.0]],
            ValueError,
            f"{method}: Shapes (2,) and (1, 2) are incompatible: variable 'v:0' has the first, the value the second. "
            "The shapes must be equal.",
        ),
        (
            v,
            ag.constant([1, 2]),
            InvalidArgumentError,
            f"{method}: variable 'v:0' has dtype float32 and the value has dtype int32; cast it with "
            "tf.cast(value, tf.float32).",
        ),
        (
            v,
            ag.Variable([1.0, 2.0], dtype=ag.float64),
            InvalidArgumentError,
            f"{method}: variable 'v:0' has dtype float32 and the value has dtype float64; cast it with "
            "tf.cast(value, tf.float32).",
        ),
        (
            n,
            1.5,
            TypeError,
            f"{method}: value is 1.5, which does not fit variable 'n:0' of dtype int32; convert it first.",
        ),
        (
            n,
            2**31,
            TypeError,
            f"{method}: value is 2147483648, which does not fit variable 'n:0' of dtype int32; its integers go from "
            "-2147483648 to 2147483647.",
        ),
        (
            v,
            None,
            ValueError,
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.",
        ),
        (
            v,
            [[1.0], [1.0, 2.0]],
            ValueError,
            "Can't convert non-rectangular Python sequence to Tensor: its rows differ in length.",
        ),
    ]:
        with says(kind, text):
            getattr(variable, method)(value)
    assert v.numpy().tolist() == [1.0, 2.0]
    assert int(n) == 1


def test_updates_of_what_cannot_be_added_to() -> None:
    flag = ag.Variable(True)
    flag.assign(False)
    assert not flag
    with says(
        InvalidArgumentError,
        "apply_add: dtype bool is not supported; use one of bfloat16, float16, float32, float64, int16, int32, int64, "
        "int8, uint16, uint32, uint64, uint8. Cast with tf.cast.",
    ):
        flag.assign_add(True)
    text = ag.Variable("a")
    text.assign("b")
    assert text.numpy() == b"b"


# --- copies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))], ids=["copy", "deepcopy", "pickle"]
)
def test_a_copy_is_another_variable(duplicate: Any) -> None:
    v = ag.Variable([1.0, 2.0], name="v", trainable=False)
    w = duplicate(v)
    v.assign_add([1.0, 1.0])
    w.assign_sub([1.0, 1.0])
    assert v.numpy().tolist() == [2.0, 3.0]
    assert w.numpy().tolist() == [0.0, 1.0]
    assert (w.name, w.trainable, w.dtype) == ("v:0", False, ag.float32)


def test_constraints_are_functions() -> None:
    with pytest.raises(ValueError, match=r"^Variable: the constraint must be a function of the value; got 3\.$"):
        ag.Variable(1.0, constraint=3)  # type: ignore[arg-type]  # what is tested


def test_nothing_is_left_to_initialize() -> None:
    assert ag.Variable(1.0).initializer is None


def test_a_caching_device_changes_nothing() -> None:
    v = ag.Variable(1.0, caching_device="/cpu:0")
    assert (v.numpy(), v.device) == (1.0, ag.Variable(1.0).device)


def test_arguments_come_in_the_order_of_tensorflow() -> None:
    v = ag.Variable(1, False, None, True, None, "v", None, ag.float64)
    assert (v.trainable, v.name, v.dtype) == (False, "v:0", ag.float64)


def test_functions_assign() -> None:
    v = ag.Variable([1.0, 2.0])
    assert ag.assign(v, [3.0, 4.0]) is v
    assert ag.assign_add(v, [1.0, 1.0]) is v
    assert ag.assign_sub(v, [2.0, 3.0]) is v
    assert v.numpy().tolist() == [2.0, 2.0]


def test_a_number_added_in_place_to_a_vector_says_what_to_write() -> None:
    v = ag.Variable([1.0, 2.0], name="v")
    same = v
    with says(
        ValueError,
        "assign_add: Shapes (2,) and () are incompatible: variable 'v:0' has the first, the value the second. "
        "The shapes must be equal, since assignments do not broadcast: write v.assign(v + value).",
    ):
        v += 1
    same.assign(same + 1)
    assert same.numpy().tolist() == [2.0, 3.0]
    same.assign(ag.broadcast_to(7.0, same.shape))
    assert same.numpy().tolist() == [7.0, 7.0]


def test_the_global_step_is_made_once() -> None:
    step = global_step.get_or_create_global_step()
    with pytest.raises(
        ValueError, match=r"^create_global_step: the global step already exists; get_or_create_"
    ) as error:
        global_step.create_global_step()
    assert str(error.value).endswith("get_or_create_global_step() returns it.")
    assert global_step.get_global_step() is step


def test_a_step_that_is_not_there_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(global_step, "_global_step", None)
    step = global_step.create_global_step()
    assert (int(step), step.dtype, step.trainable) == (0, ag.int64, False)
    assert global_step.get_global_step() is step

"""Control flow: Python's own results, by hand, and gradients against formulas."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError, OutOfRangeError
from agog_core.ops.control import control
from agog_core.ops.control import map_and_scan as functional
from agog_core.ops.control.tensor_array import TensorArray
from agog_testing import says


def fails(error: type[Exception], text: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    with says(error, text) as caught:
        function(*args, **kwargs)
    assert type(caught.value) is error


def test_cond_calls_one_function_only() -> None:
    calls: list[str] = []
    assert control.cond(ag.constant(True), lambda: calls.append("a") or 1, lambda: calls.append("b") or 2) == 1
    assert control.cond(False, lambda: calls.append("a") or 1, lambda: calls.append("b") or 2) == 2
    assert calls == ["a", "b"]


def test_cond_takes_a_single_element_out_of_its_list_unless_strict() -> None:
    pair = namedtuple("pair", "x")
    assert control.cond(True, lambda: [7], lambda: 0) == 7
    assert control.cond(True, lambda: (7,), lambda: 0) == 7
    assert control.cond(True, lambda: [7], lambda: 0, strict=True) == [7]
    assert control.cond(True, lambda: [7, 8], lambda: 0) == [7, 8]
    assert control.cond(True, lambda: pair(7), lambda: 0) == pair(7)
    assert control.cond(True, fn1=lambda: 1, fn2=lambda: 2) == 1


def test_cond_needs_functions() -> None:
    fails(TypeError, "cond: true_fn must be a function; got 3 of type int.", control.cond, True, 3, lambda: 0)
    fails(TypeError, "cond: false_fn must be a function; got None of type NoneType.", control.cond, True, lambda: 0)


def test_cond_is_differentiable() -> None:
    f = lambda x: control.cond(x > 0, lambda: x * x, lambda: x * 3)  # noqa: E731
    assert [float(ag.gradients_function(f)(x)[0]) for x in (2.0, -2.0)] == [4.0, 3.0]


def test_case_takes_the_first_that_holds() -> None:
    pairs = [(ag.constant(False), lambda: 1), (True, lambda: 2), (True, lambda: 3)]
    assert control.case(pairs) == 2
    assert control.case(dict(pairs[:2])) == 2
    assert control.case(pairs[:1], default=lambda: 9) == 9
    assert control.case([(True, lambda: [1])]) == 1
    assert control.case([(True, lambda: [1])], strict=True) == [1]
    assert control.case(pairs[:2], exclusive=True) == 2


def test_case_errors() -> None:
    holds, fails_ = (True, lambda: 1), (False, lambda: 1)
    fails(
        InvalidArgumentError,
        "case: at most one condition may hold when exclusive is True; conditions [0, 2] of 3 do.",
        control.case,
        [holds, fails_, holds],
        exclusive=True,
    )
    fails(
        InvalidArgumentError,
        "case: none of the 1 conditions holds, and there is no default; pass default=.",
        control.case,
        [fails_],
    )
    fails(TypeError, "case: pred_fn_pairs must hold pairs (condition, function); got True.", control.case, [True])
    fails(
        TypeError,
        "case: the second of each pair must be a function; got 1 of type int.",
        control.case,
        [(True, 1)],
    )
    fails(TypeError, "case: default must be a function; got 1 of type int.", control.case, [holds], default=1)


def test_while_loop_counts() -> None:
    i, x = control.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), [ag.constant(0), ag.constant(1.0)])
    assert (int(i), float(x)) == (5, 32.0)


def test_while_loop_of_one_variable() -> None:
    assert control.while_loop(lambda i: i < 5, lambda i: i + 1, [0]) == 5
    assert control.while_loop(lambda i: i < 5, lambda i: [i + 1], [0]) == [5]
    assert control.while_loop(lambda i: i < 5, lambda i: i + 1, [0], return_same_structure=True) == [5]
    assert control.while_loop(lambda i: False, lambda i: i + 1, [0]) == [0]


def test_while_loop_stops_at_its_limit() -> None:
    assert control.while_loop(lambda i: True, lambda i: i + 1, [0], maximum_iterations=3) == 3
    assert control.while_loop(lambda i: i < 2, lambda i: i + 1, [0], maximum_iterations=ag.constant(9)) == 2
    assert control.while_loop(lambda i: True, lambda i: i + 1, [7], maximum_iterations=0) == [7]


def test_while_loop_takes_structures() -> None:
    state = {"x": ag.constant([1.0]), "n": (ag.constant(0),)}
    end, count = control.while_loop(
        lambda s, n: n < 3, lambda s, n: ({"x": s["x"] * 2, "n": (s["n"][0] + 1,)}, n + 1), [state, 0]
    )
    assert (end["x"].numpy().tolist(), int(end["n"][0]), count) == ([8.0], 3, 3)


def test_while_loop_is_differentiable() -> None:
    def power(x: ag.Tensor) -> ag.Tensor:
        return control.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, ag.constant(1.0)])[1]

    def stopped(x: ag.Tensor) -> ag.Tensor:
        return control.while_loop(lambda y: y < 10, lambda y: y * x, [x], back_prop=False)

    derivative = ag.gradients_function(power)
    assert float(derivative(2.0)[0]) == 12.0
    assert float(ag.gradients_function(lambda x: derivative(x)[0])(2.0)[0]) == 12.0
    assert ag.gradients_function(stopped)(2.0) == [None]


def test_while_loop_keeps_shape_invariants() -> None:
    def body(i: int, x: ag.Tensor) -> tuple[int, ag.Tensor]:
        return i + 1, ag.concat([x, x], 0)

    first = [0, ag.ones([1, 2])]
    invariants = [ag.TensorShape([]), ag.TensorShape([None, 2])]
    _, x = control.while_loop(lambda i, x: i < 2, body, first, invariants)
    assert x.shape == (4, 2)
    fails(
        ValueError,
        "while_loop: loop variable 1 has shape (2, 2) after iteration 1; its shape invariant is (1, 2).",
        control.while_loop,
        lambda i, x: i < 2,
        body,
        first,
        [ag.TensorShape([]), ag.TensorShape([1, 2])],
    )
    fails(
        ValueError,
        "while_loop: shape_invariants must hold one TensorShape for each tensor; got 1 for 2.",
        control.while_loop,
        lambda i, x: i < 2,
        body,
        first,
        [ag.TensorShape([])],
    )


def test_while_loop_errors() -> None:
    loop = control.while_loop
    fails(TypeError, "while_loop: cond must be a function; got 1 of type int.", loop, 1, lambda i: i, [0])
    fails(TypeError, "while_loop: body must be a function; got 1 of type int.", loop, lambda i: i, 1, [0])
    fails(
        ValueError,
        "while_loop: loop_vars is empty; give at least one loop variable.",
        loop,
        lambda: True,
        lambda: (),
        [],
    )
    text = "while_loop: body must return 2 loop variables, as it takes; it returned {}."
    fails(ValueError, text.format(1), loop, lambda i, j: True, lambda i, j: [i], [0, 0])
    fails(ValueError, text.format("a int"), loop, lambda i, j: True, lambda i, j: i, [0, 0])


def test_what_only_ordered_graphs() -> None:
    x, ran = ag.constant(1.0), []
    assert control.group(x, x, name="g") is None
    with pytest.raises(TypeError, match="unexpected keyword argument 'nam'"):
        control.group(x, nam="g")  # type: ignore[call-arg]
    assert control.no_op() is None
    assert control.tuple([x, None]) == [x, None]
    with control.control_dependencies([x, lambda: ran.append(1)]):
        ran.append(2)
    with control.control_dependencies(None):
        ran.append(3)
    assert ran == [1, 2, 3]
    with control.colocate_with(x), control.init_scope():
        ran.append(4)
    assert ran[-1] == 4
    same = control.identity_n([x, [2, 3]])
    assert [each.numpy().tolist() for each in same] == [1.0, [2, 3]]
    assert ag.gradients_function(lambda x: control.identity_n([x])[0] * 2)(1.0)[0].numpy() == 2.0


ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


def test_map_fn() -> None:
    doubled = functional.map_fn(lambda row: row * 2, ROWS)
    assert doubled.numpy().tolist() == (ROWS * 2).tolist()
    signs = functional.map_fn(lambda row: ag.reduce_sum(row) > 5, ROWS, dtype=ag.bool)
    assert signs.numpy().tolist() == [False, True, True]
    assert functional.map_fn(lambda x: x + 1, [1, 2]).numpy().tolist() == [2, 3]


def test_map_fn_of_structures() -> None:
    both = functional.map_fn(lambda xy: xy[0] * xy[1], (ROWS, ROWS), dtype=ag.float32)
    assert both.numpy().tolist() == (ROWS * ROWS).tolist()
    sums = functional.map_fn(lambda ab: ab[0] + ab[1], ([1, 2], [[3], [4]]), dtype="int32")
    assert sums.numpy().tolist() == [[4], [6]]
    split = functional.map_fn(lambda d: {"a": d["x"] + 1, "b": 7}, {"x": ROWS}, dtype={"a": "float32", "b": "int32"})
    assert split["a"].numpy().tolist() == (ROWS + 1).tolist()
    assert split["b"].numpy().tolist() == [7, 7, 7]


def test_map_fn_errors() -> None:
    fails(TypeError, "map_fn: fn must be a function; got 1 of type int.", functional.map_fn, 1, ROWS)
    fails(
        InvalidArgumentError,
        "map_fn: fn must return dtype float32; it returned dtype bool (shape (2,)); pass dtype= with what fn returns.",
        functional.map_fn,
        lambda row: row > 0,
        ROWS,
    )
    fails(
        ValueError,
        "map_fn: fn must return the structure ['float32', 'float32']; it returned 1 values. The two structures "
        "don't have the same nested structure. Pass dtype= with the "
        "structure that fn returns.",
        functional.map_fn,
        lambda rows: rows[0],
        [ROWS, ROWS],
    )
    fails(
        InvalidArgumentError,
        "map_fn: elems must have first axes of one size, at least 1; got shapes (3, 2), (2, 2).",
        functional.map_fn,
        lambda row: row,
        [ROWS, ROWS[:2]],
    )
    fails(
        InvalidArgumentError,
        "map_fn: elems must have a first axis; got a tensor of shape ().",
        functional.map_fn,
        lambda row: row,
        1.0,
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("initializer", [None, 10.0])
def test_scan(reverse: bool, initializer: float | None) -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    result = functional.scan(lambda a, x: a * 2 - x, values, initializer, reverse=reverse)
    expected, order = [], values[::-1] if reverse else values
    total = initializer
    for value in order.tolist():
        total = value if total is None else total * 2 - value
        expected.append(total)
    assert result.numpy().tolist() == (expected[::-1] if reverse else expected)


def test_scan_of_structures_and_gradient() -> None:
    fibonacci, _ = functional.scan(lambda a, _: (a[1], a[0] + a[1]), np.zeros(6), (0, 1))
    assert fibonacci.numpy().tolist() == [1, 1, 2, 3, 5, 8]
    product = lambda x: functional.scan(lambda a, e: a * e, x)[-1]  # noqa: E731
    (gradient,) = ag.gradients_function(product)(ag.constant([2.0, 3.0, 4.0]))
    assert gradient.numpy().tolist() == [12.0, 8.0, 6.0]
    frozen = lambda x: functional.scan(lambda a, e: a * e, x, back_prop=False)  # noqa: E731
    assert ag.gradients_function(frozen)(ag.constant([2.0, 3.0])) == [None]
    fails(
        ValueError,
        "scan: fn must return the structure ('int32', 'int32'); it returned 1 values. The two structures don't have "
        "the same nested structure. It is the structure it takes.",
        functional.scan,
        lambda a, _: a[0],
        np.zeros(2),
        (0, 1),
    )
    fails(
        InvalidArgumentError,
        "scan: fn must return dtype int32; it returned dtype float64 (shape ()); cast it in fn.",
        functional.scan,
        lambda a, x: x,
        np.zeros(2),
        0,
    )


def test_folds() -> None:
    letters = np.array([1.0, 2.0, 3.0], np.float32)
    assert float(functional.foldl(lambda a, x: a * 10 + x, letters)) == 123.0
    assert float(functional.foldr(lambda a, x: a * 10 + x, letters)) == 321.0
    assert float(functional.foldl(lambda a, x: a * 10 + x, letters, 4.0)) == 4123.0
    assert float(functional.foldr(lambda a, x: a * 10 + x, letters, 4.0)) == 4321.0
    for fold in (functional.foldl, functional.foldr):
        product = partial(fold, lambda a, e: a * e)
        (gradient,) = ag.gradients_function(lambda x, product=product: product(x), [0])(letters)
        assert gradient.numpy().tolist() == [6.0, 3.0, 2.0]
        frozen = partial(product, back_prop=False)
        assert ag.gradients_function(lambda x, frozen=frozen: frozen(x), [0])(letters) == [None]


def test_tensor_array_reads_what_was_written() -> None:
    array = TensorArray(ag.float32, 3)
    assert array.write(0, 1.0).write(2, [3.0][0]) is array
    assert (array.dtype, int(array.size()), array.size().dtype) == (ag.float32, 3, ag.int32)
    assert array.stack().numpy().tolist() == [1.0, 0.0, 3.0]
    assert array.gather([2, 0]).numpy().tolist() == [3.0, 1.0]
    assert float(array.read(2)) == 3.0
    assert array.identity() is array
    assert float(array.flow) == 0.0
    assert array.handle is None
    array.close()
    assert int(array.size()) == 0


def test_tensor_array_grows_when_it_may() -> None:
    array = TensorArray(ag.int32, dynamic_size=True, clear_after_read=False)
    array.write(1, 5)
    assert (int(array.size()), int(array.read(1)), int(array.read(1))) == (2, 5, 5)


def test_tensor_array_joins_and_cuts() -> None:
    array = TensorArray(ag.float32, 3).unstack(ROWS)
    assert array.stack().numpy().tolist() == ROWS.tolist()
    assert array.concat().numpy().tolist() == ROWS.reshape(-1).tolist()
    assert TensorArray(ag.float32, 3).scatter([2, 0, 1], ROWS).stack().numpy().tolist() == ROWS[[1, 2, 0]].tolist()
    pieces = TensorArray(ag.float32, 2, infer_shape=False).split(ROWS, [1, 2])
    assert [pieces.read(i).numpy().tolist() for i in range(2)] == [ROWS[:1].tolist(), ROWS[1:].tolist()]
    assert TensorArray(ag.float32, 0, element_shape=[2]).stack().shape == (0, 2)
    assert TensorArray(ag.float32, 0, element_shape=[4, 2]).concat().shape == (0, 2)


def test_tensor_array_is_differentiable() -> None:
    def f(x: ag.Tensor) -> ag.Tensor:
        array = TensorArray(ag.float32, 2).write(0, x).write(1, x * x)
        return ag.reduce_sum(array.stack())

    assert float(ag.gradients_function(f)(3.0)[0]) == 7.0


def test_tensor_array_errors() -> None:
    array = TensorArray(ag.float32, 2)
    fails(
        OutOfRangeError,
        "TensorArray.write: Tried to write to index 2 but array is not resizeable and size is: 2; pass "
        "dynamic_size=True to let the array grow.",
        array.write,
        2,
        1.0,
    )
    fails(OutOfRangeError, "TensorArray.read: Tried to read from index -1 but array size is: 2.", array.read, -1)
    fails(
        InvalidArgumentError,
        "TensorArray.read: index 0 was never written, and the shape of its tensor is unknown; write it first, or pass "
        "element_shape to the TensorArray.",
        array.read,
        0,
    )
    array.write(0, 1.0).read(0)
    fails(
        InvalidArgumentError,
        "TensorArray.read: Could not read index 0 twice because it was cleared after a previous read (perhaps try "
        "setting clear_after_read = false?)",
        array.read,
        0,
    )
    fails(
        InvalidArgumentError,
        "TensorArray.write: TensorArray dtype is float32 but Op is trying to write dtype int32, of shape (), for index "
        "1. Cast it with tf.cast.",
        array.write,
        1,
        ag.constant(1),
    )
    fails(
        ValueError,
        "TensorArray.write: the tensors have shape (); got one of shape (2,) for index 1. Pass infer_shape=False to "
        "the TensorArray to mix shapes.",
        array.write,
        1,
        [1.0, 2.0],
    )
    room = "do not fit into 2 places; pass dynamic_size=True to let the array grow."
    fails(ValueError, f"TensorArray.unstack: 3 slices {room}", array.unstack, ROWS)
    for text, value, lengths in [
        (
            "TensorArray's size is not equal to the size of lengths (2 vs. 3), and the TensorArray is not marked as "
            "dynamically resizeable; pass dynamic_size=True.",
            ROWS,
            [1, 1, 1],
        ),
        ("Expected lengths to be a vector, received shape: []", ROWS, 1),
        ("Expected value to be at least a vector, but received shape: []", 1.0, [1]),
        (
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is 1 and value's shape is: [3]",
            [1.0, 2.0, 3.0],
            [1],
        ),
    ]:
        fails(InvalidArgumentError, f"TensorArray.split: {text}", array.split, value, lengths)
    fails(
        InvalidArgumentError,
        "TensorArray.concat: Concat saw a scalar shape at index 0 but requires at least vectors.",
        TensorArray(ag.float32, 1).write(0, 1.0).concat,
    )
    fails(ValueError, "TensorArray.scatter: got 1 indices for 3 slices.", array.scatter, [0], ROWS)
    fails(
        InvalidArgumentError,
        "TensorArray.gather: there is no tensor, and the shape of the tensors is unknown; pass element_shape to the "
        "TensorArray.",
        TensorArray(ag.float32, 0).stack,
    )
    fails(
        NotImplementedError,
        "TensorArray.grad is not supported when eager execution is enabled: a tf.GradientTape records reads and "
        "writes as it does ops, so differentiate what you compute from the array.",
        array.grad,
        "source",
    )
    fails(
        ValueError,
        "TensorArray: handle must be None; an array that runs at once has none.",
        TensorArray,
        ag.float32,
        handle=1,
    )


def test_map_fn_over_nothing() -> None:
    found = functional.map_fn(lambda row: row, np.zeros((0, 2), np.float32), dtype=ag.int32)
    assert (found.shape, found.dtype) == ((0, 2), ag.int32)


def test_a_tensor_array_takes_pieces_of_different_lengths() -> None:
    array = TensorArray(ag.float32, 0, dynamic_size=True).split(ag.constant([[1.0], [2.0], [3.0]]), [1, 2])
    assert [array.read(place).shape.as_list() for place in (0, 1)] == [[1, 1], [2, 1]]


def test_a_tensor_array_in_a_loop_with_invariants() -> None:
    def squares(x: ag.Tensor) -> ag.Tensor:
        _, array = control.while_loop(
            lambda n, array: n < 3,
            lambda n, array: (n + 1, array.write(n, x[n] * x[n])),
            (ag.constant(0), TensorArray(ag.float32, 3)),
            shape_invariants=(ag.TensorShape([]), ag.TensorShape(None)),
        )
        return array.stack()

    x = ag.constant([1.0, 2.0, 3.0])
    assert squares(x).numpy().tolist() == [1.0, 4.0, 9.0]
    assert ag.gradients_function(squares)(x)[0].numpy().tolist() == [2.0, 4.0, 6.0]


def test_results_of_another_structure_than_was_said() -> None:
    with says(
        TypeError,
        "map_fn: fn must return the structure ['int32', 'int32']; it returned a tuple. The two structures don't have "
        "the same nested structure. Pass dtype= with the structure that fn returns.",
    ):
        ag.map_fn(lambda x: (x, -x), [1, 2], dtype=[ag.int32, ag.int32])
    with says(
        ValueError,
        "scan: fn must return the structure int32; it returned 2 values. The two structures don't have the same nested "
        "structure. It is the structure it takes.",
    ):
        ag.scan(lambda total, x: (total, x), [1, 2], 0)
    pair = ag.map_fn(lambda x: {"b": x, "a": x}, [1, 2], dtype={"a": ag.int32, "b": ag.int32})
    assert pair["a"].numpy().tolist() == [1, 2]
    assert ag.map_fn(lambda x: [1.0, 2.0], [1.0, 2.0]).shape == (2, 2)

"""Needed: a vjp for several inputs computes what is asked for, and no more; and what it computes stays right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.calls.call import call
from agog_core.dispatch.kernels.observation import KernelCall, observe, unobserve
from agog_core.dispatch.op import Op, registry
from agog_core.gradients.forward import jvp
from agog_core.ops.conv.convolutions import conv2d
from agog_core.ops.conv.depthwise import depthwise_conv2d, separable_conv2d
from agog_core.ops.linalg.einsum import einsum
from agog_core.ops.linalg.least_squares import matrix_solve_ls
from agog_core.ops.linalg.solving import matrix_solve, matrix_triangular_solve
from agog_core.ops.nn.gru import gru
from agog_core.ops.nn.lstm import lstm
from agog_core.ops.reduce.scans import linear_recurrence

Array = np.ndarray[Any, Any]


@contextmanager
def kernel_calls() -> Iterator[list[KernelCall]]:
    """The calls of kernels inside."""
    calls: list[KernelCall] = []
    observe(calls.append)
    try:
        yield calls
    finally:
        unobserve(calls.append)


def recurrent(gates: int, states: int) -> list[Array]:
    rng = np.random.default_rng(8)
    time, batch, features, units = 3, 2, 4, 5
    shapes = [(time, batch, features), (features, gates * units), (units, gates * units), (gates * units,)]
    return [rng.uniform(-1, 1, shape) for shape in [*shapes, *[(batch, units)] * states]]


def matrices(*shapes: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(9)
    return [rng.uniform(-1, 1, shape) for shape in shapes]


SOLVABLE = [matrices((3, 3))[0] + 4 * np.eye(3), *matrices((3, 2))]
TWO = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
# An op with one vjp for several inputs, and arguments that it takes.
JOINT: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "add_n": (lambda *x: ag.add_n(list(x)), TWO),
    "concat": (lambda *x: ag.concat(list(x), 0), TWO),
    "einsum": (lambda *x: einsum("ab,bc,cd->ad", *x), matrices((2, 3), (3, 4), (4, 5))),
    "gru": (lambda *x: gru(*x)[0], recurrent(3, 1)),
    "gru, reset after": (
        lambda *x: gru(*x, reset_after=True)[0],
        [np.stack([each, 2 * each]) if n == 3 else each for n, each in enumerate(recurrent(3, 1))],
    ),
    "linear_recurrence": (linear_recurrence, TWO),
    "lstm": (lambda *x: lstm(*x)[0], recurrent(4, 2)),
    "matrix_solve": (matrix_solve, SOLVABLE),
    "matrix_solve_ls": (lambda *x: matrix_solve_ls(*x, fast=False), matrices((4, 3), (4, 2))),
    "matrix_triangular_solve": (matrix_triangular_solve, SOLVABLE),
}


def scalar(f: Callable[..., Any], inputs: Sequence[ag.Tensor]) -> ag.Tensor:
    """A number that weighs all elements of a result differently."""
    out = f(*inputs)
    weights = np.cos(np.arange(out.shape.num_elements())).reshape(out.shape.as_list())
    return ag.reduce_sum(out * ag.constant(weights, out.dtype))


def gradients(f: Callable[..., Any], inputs: Sequence[ag.Tensor], which: Sequence[int], **tape: Any) -> list[Any]:
    chosen = [inputs[n] for n in which]
    with ag.GradientTape(**tape) as recorded:
        recorded.watch(chosen)
        value = scalar(f, inputs)
    found: list[Any] = recorded.gradient(value, chosen)
    return found


@pytest.fixture(params=JOINT)
def joint(request: pytest.FixtureRequest) -> tuple[Callable[..., Any], list[ag.Tensor]]:
    f, arguments = JOINT[request.param]
    return f, [ag.constant(x, "float64") for x in arguments]


def test_each_gradient_alone_is_the_same_as_all_at_once(joint: tuple[Callable[..., Any], list[ag.Tensor]]) -> None:
    f, inputs = joint
    together = gradients(f, inputs, range(len(inputs)))
    for n in range(len(inputs)):
        (alone,) = gradients(f, inputs, [n])
        np.testing.assert_array_equal(alone.numpy(), together[n].numpy())
        (persistent,) = gradients(f, inputs, [n], persistent=True)
        np.testing.assert_array_equal(persistent.numpy(), together[n].numpy())


def test_an_input_that_is_not_watched_costs_nothing(joint: tuple[Callable[..., Any], list[ag.Tensor]]) -> None:
    """Fewer kernels run, or the op's own gradient kernel has fewer results."""
    f, inputs = joint

    def work(which: Sequence[int]) -> int:
        with kernel_calls() as calls:
            gradients(f, inputs, which)
        return sum(len(each.results) for each in calls)

    if f is not JOINT["add_n"][0]:  # each of its gradients is what came
        assert min(work([n]) for n in range(len(inputs))) < work(range(len(inputs)))


def test_forward_mode_needs_what_has_a_tangent(joint: tuple[Callable[..., Any], list[ag.Tensor]]) -> None:
    f, inputs = joint
    for n, x in enumerate(inputs):
        direction = ag.constant(np.sin(np.arange(x.shape.num_elements())).reshape(x.shape.as_list()))
        _, tangent = jvp(lambda y, n=n: scalar(f, [*inputs[:n], y, *inputs[n + 1 :]]), [x], [direction])
        (gradient,) = gradients(f, inputs, [n])
        assert float(tangent) == pytest.approx(float(ag.reduce_sum(gradient * direction)), rel=1e-9, abs=1e-12)


def test_second_derivatives_of_what_is_watched(joint: tuple[Callable[..., Any], list[ag.Tensor]]) -> None:
    """A gradient of one input, differentiated by another one; compared with differences."""
    f, inputs = joint

    def slope(first: int, values: Sequence[ag.Tensor]) -> ag.Tensor:
        (gradient,) = gradients(lambda *x: ag.square(f(*x)), values, [first])
        return scalar(lambda g: g, [gradient])

    for first in range(len(inputs)):
        for second in range(len(inputs)):
            x = inputs[second]
            with ag.GradientTape() as tape:
                tape.watch(x)
                value = slope(first, inputs)
            mixed = tape.gradient(value, x)
            index = (0,) * len(x.shape.as_list())
            step = np.zeros(x.shape.as_list())
            step[index] = 1e-6
            ends = [float(slope(first, [*inputs[:second], x + s, *inputs[second + 1 :]])) for s in (step, -step)]
            got = 0.0 if mixed is None else float(mixed.numpy()[index])
            assert got == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4, abs=1e-7), (first, second)


def test_jacobians_of_one_input(joint: tuple[Callable[..., Any], list[ag.Tensor]]) -> None:
    f, inputs = joint
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(inputs[0])
        alone = f(*inputs)
    with ag.GradientTape(persistent=True) as everything:
        everything.watch(inputs)
        out = f(*inputs)
    got = tape.jacobian(alone, inputs[0]).numpy()
    np.testing.assert_array_equal(got, everything.jacobian(out, inputs[0]).numpy())


def test_two_tapes_that_need_different_inputs(joint: tuple[Callable[..., Any], list[ag.Tensor]]) -> None:
    f, inputs = joint
    first, last = inputs[0], inputs[-1]
    with ag.GradientTape() as outer, ag.GradientTape() as inner:
        outer.watch(first)
        inner.watch(last)
        value = scalar(f, inputs)
    by_all = gradients(f, inputs, range(len(inputs)))
    np.testing.assert_array_equal(inner.gradient(value, last).numpy(), by_all[-1].numpy())
    np.testing.assert_array_equal(outer.gradient(value, first).numpy(), by_all[0].numpy())


def test_what_a_vjp_is_told() -> None:
    """The names of the inputs that a tape watches, or their positions where an op takes any number of them."""
    told: list[Any] = []

    def vjp(g: ag.Tensor, needed: tuple[str, ...]) -> tuple[Any, ...]:
        told.append(needed)
        return g, g, g

    def of_any_number(g: ag.Tensor, needed: tuple[int, ...], shapes: Any) -> list[Any]:
        told.append(needed)
        return [g] * len(shapes)

    # The ops take the kernels of others: what counts is what their vjps are told.
    ops = [
        Op("test_needed", einsum, inputs=["x", "y", "z"], shape=lambda x, *_, equation: x, vjp={("x", "y", "z"): vjp}),
        Op("test_needed_any", einsum, inputs=["*x"], shape=lambda *x, equation: x[0], vjp={"x": of_any_number}),
    ]
    inputs = [ag.constant(float(n)) for n in range(3)]
    call(registry["einsum"], *inputs, equation=",,->")
    table = inputs[0]._table
    try:
        for op in ops:
            table.install(op.name, table.kernels["einsum"])
            for which in ([0, 2], [1], [0, 1, 2]):
                chosen = [inputs[n] for n in which]
                with ag.GradientTape() as tape:
                    tape.watch(chosen)
                    out = call(op, *inputs, equation=",,->")
                assert [float(g) for g in tape.gradient(out, chosen)] == [1.0] * len(chosen)
    finally:
        for op in ops:
            table.remove(op.name)
            del registry[op.name]
    assert told == [("x", "z"), ("y",), ("x", "y", "z"), (0, 2), (1,), (0, 1, 2)]


def backward_ops(f: Callable[[], ag.Tensor], watched: Any) -> Counter[str]:
    """How often each op runs on the way back."""
    with ag.GradientTape() as tape:
        tape.watch(watched)
        value = f()
    with kernel_calls() as calls:
        tape.gradient(value, watched)
    return Counter(each.op.name for each in calls)


def test_the_first_convolution_of_a_net_computes_no_input_gradient() -> None:
    images = ag.constant(np.ones((2, 8, 8, 3), np.float32))
    filters = [ag.constant(np.full(shape, 0.1, np.float32)) for shape in ((3, 3, 3, 4), (3, 3, 4, 4))]

    def net() -> ag.Tensor:
        hidden = conv2d(images, filters[0], [1, 1, 1, 1], "SAME")
        return ag.reduce_sum(conv2d(hidden, filters[1], [1, 1, 1, 1], "SAME"))

    counts = backward_ops(net, filters)
    assert (counts["convolution_filter_grad"], counts["convolution_input_grad"]) == (2, 1)


def test_depthwise_and_separable_convolutions_compute_no_input_gradient() -> None:
    images = ag.constant(np.ones((2, 8, 8, 3), np.float32))
    depthwise, pointwise = (ag.constant(np.full(s, 0.1, np.float32)) for s in ((3, 3, 3, 2), (1, 1, 6, 5)))
    ones = [1, 1, 1, 1]
    watched = [depthwise, pointwise]
    counts = backward_ops(lambda: ag.reduce_sum(separable_conv2d(images, depthwise, pointwise, ones, "SAME")), watched)
    whole = backward_ops(
        lambda: ag.reduce_sum(separable_conv2d(images, depthwise, pointwise, ones, "SAME")), [images, *watched]
    )
    assert counts.total() < whole.total()
    first = backward_ops(lambda: ag.reduce_sum(depthwise_conv2d(images, depthwise, ones, "SAME")), [depthwise])
    assert not [name for name in first if name.endswith("input_grad")], first


@pytest.mark.parametrize(("f", "name"), [(lstm, "lstm_grad"), (gru, "gru_grad")])
def test_a_recurrent_kernel_computes_only_gradients_that_are_asked_for(f: Any, name: str) -> None:
    inputs = [ag.constant(x) for x in (recurrent(4, 2) if f is lstm else recurrent(3, 1))]
    with ag.GradientTape() as tape:
        tape.watch(inputs[1:4])
        value = ag.reduce_sum(f(*inputs)[0])
    with kernel_calls() as calls:
        tape.gradient(value, inputs[1:4])
    (grad,) = [each for each in calls if each.op.name == name]
    assert grad.attributes["sources"] == ("kernel", "recurrent_kernel", "bias")
    assert [result.shape for result in grad.results] == [tuple(x.shape.as_list()) for x in inputs[1:4]]


def test_checkpointed_functions_compute_only_what_is_asked_for() -> None:
    images, weights = ag.constant(np.ones((2, 5))), ag.constant(np.ones((5, 3)))
    f = ag.recompute_grad(lambda x, w: ag.matmul(x, w))
    counts = backward_ops(lambda: ag.reduce_sum(f(images, weights)), [weights])
    assert counts["matmul"] == 2  # once forward again, once back


def test_a_function_with_a_gradient_of_its_own_beside_others() -> None:
    @ag.custom_gradient
    def twice(x: ag.Tensor) -> Any:
        return x * 2.0, lambda dy: dy * 2.0

    inputs = [ag.constant(x) for x in recurrent(4, 2)]
    with ag.GradientTape() as tape:
        tape.watch(inputs[1])
        value = ag.reduce_sum(twice(lstm(inputs[0], twice(inputs[1]), *inputs[2:])[0]))
    (plain,) = gradients(lambda *x: lstm(*x)[0], [inputs[0], inputs[1] * 2.0, *inputs[2:]], [1])
    with ag.GradientTape() as unweighted:
        unweighted.watch(inputs[1])
        expected = ag.reduce_sum(lstm(inputs[0], inputs[1] * 2.0, *inputs[2:])[0])
    np.testing.assert_allclose(tape.gradient(value, inputs[1]), 2 * unweighted.gradient(expected, inputs[1]).numpy())
    assert plain.shape == inputs[1].shape

"""Layouts in traced functions: results have the strides that eager calls give them, and kernels see eager operands.

NumPy computes arrays that lie backwards, or in other steps, by other functions, so that last bits depend on strides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core import nest
from agog_core.dispatch.plugins.compilers import compilers_of
from agog_core.tracing.execution import hotness
from agog_core.tracing.execution.executors import executable
from agog_core.tracing.traces import concrete
from agog_testing.compilers import compilers_in_use

SIZES = {
    "interpreted": (6, 4),
    "portable": (6, 4),
    "numpy": (6, 4),
    "compiled": (190, 180),
}  # above what the compiler takes of one op

VIEWS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "reversed rows": lambda x: tf.reverse(x, [0]),
    "reversed columns": lambda x: tf.reverse(x, [1]),
    "reversed": lambda x: tf.reverse(x, [0, 1]),
    "transposed": tf.transpose,
    "transposed and reversed": lambda x: tf.transpose(tf.reverse(x, [0])),
    "each second": lambda x: x[::2],
    "each second from the end": lambda x: x[:, ::-2],
    "a part": lambda x: x[::-1, 1:-1],
    "rows repeated": lambda x: tf.broadcast_to(x[:1], x.shape),
    "columns repeated": lambda x: tf.broadcast_to(x[:, :1], x.shape),
    "an axis more": lambda x: tf.broadcast_to(x[:2], [2, *x[:2].shape.as_list()]),
    "reshaped": lambda x: tf.reshape(x, [-1, 2]),
    "reshaped in a copy": lambda x: tf.reshape(tf.transpose(x), [-1]),
    "real": lambda x: tf.real(tf.complex(x, x * 2.0)),
    "imaginary": lambda x: tf.imag(tf.complex(x, x * 2.0)),
    "expanded": lambda x: tf.expand_dims(tf.reverse(x, [0]), 1),
    "squeezed": lambda x: tf.squeeze(tf.reverse(x[:1], [1])),
    "diagonal": lambda x: tf.matrix_diag_part(x),
    "diagonal backwards": lambda x: tf.diag_part(x[3::-1, :4]),
    "a half": lambda x: tf.split(x, 2, axis=1)[1],
    "a column": lambda x: tf.unstack(x, axis=1)[1],
    "identity": lambda x: tf.identity(tf.transpose(x)),
    "stopped": lambda x: tf.stop_gradient(tf.reverse(x, [1])),
    "its bits": lambda x: tf.bitcast(tf.bitcast(tf.reverse(x, [1]), tf.int32), tf.float32),
    "cast": lambda x: tf.cast(tf.cast(tf.transpose(x), tf.float64), tf.float32),
    "rolled": lambda x: tf.roll(x, 1, 0),
    "padded": lambda x: tf.pad(tf.transpose(x), [[1, 0], [0, 1]]),
    "joined": lambda x: tf.concat([tf.transpose(x), tf.reverse(tf.transpose(x), [0])], 0),
    "stacked": lambda x: tf.stack([tf.transpose(x), tf.reverse(tf.transpose(x), [0])]),
    "chosen": lambda x: tf.where(tf.transpose(x) > 0.0, tf.transpose(x), tf.reverse(tf.transpose(x), [1])),
    "gathered": lambda x: tf.gather(tf.transpose(x), [1, 0]),
}
COMPILED = (
    "reversed rows",
    "reversed columns",
    "reversed",
    "transposed",
    "each second from the end",
    "rows repeated",
    "real",
)
FUNCTIONS: list[Callable[[Any], Any]] = [
    *(tf.sinh, tf.tanh, tf.nn.softmax, tf.reduce_sum, tf.nn.softplus),
    lambda y: y * y,
    lambda y: tf.exp(-y * y) * 2.0 + tf.sin(y),
    lambda y: tf.abs(y) ** 0.3,
    lambda y: tf.cosh(y) + tf.reverse(y, [0]),
    lambda y: tf.reduce_sum(y, 0),
    lambda y: tf.reduce_mean(tf.sinh(y), -1),
    lambda y: tf.reduce_max(y, 0),
    lambda y: tf.reduce_prod(y, -1),
    lambda y: tf.cumsum(y, -1),
    lambda y: tf.reduce_logsumexp(y, -1),
]


@pytest.fixture(params=["interpreted", "portable", "numpy", "compiled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What runs the traced functions: node after node, kernel after kernel, NumPy's calls, or compiled loops."""
    if request.param == "compiled" and not compilers_of("cpu"):
        pytest.skip("no compiler is there")
    if request.param == "portable":
        monkeypatch.setattr(concrete, "executable", lambda graph, is_portable: executable(graph, True))
    if request.param == "interpreted":
        monkeypatch.setattr(hotness, "_at_once", [])
        monkeypatch.setattr(hotness, "_TIMES", 1e9)
    with compilers_in_use() if request.param == "numpy" else nullcontext():
        yield request.param


class Program:
    """Functions of a view of their argument, with the gradients of a tape inside, of one outside, or of none."""

    def __init__(self, view: Callable[[Any], Any], size: tuple[int, ...]) -> None:
        rng = np.random.default_rng(5)
        self.view = view
        self.arrays = [rng.normal(size=size).astype("f4") for _ in range(3)]

    def results(self, x: Any) -> list[Any]:
        y = self.view(x)
        return [y, *[function(y) for function in FUNCTIONS]]

    def gradients(self, x: Any) -> list[Any]:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            results = self.results(x)
        return [*results, *[tape.gradient(each, x) for each in results]]

    def outcome(self, wrap: Any, tapes: str) -> list[Any]:
        run = wrap(self.gradients if tapes == "inside" else self.results)
        found = []
        for array in self.arrays:
            x = tf.constant(array)
            with tf.GradientTape(persistent=True) as tape:
                if tapes == "outside":
                    tape.watch(x)
                results = run(x)
            if tapes == "outside":
                results = [*results, *[tape.gradient(each, x) for each in results]]
            found.append([described(each) for each in nest.flatten(results)])
        return found


def described(tensor: Any) -> Any:
    """The shape, strides and bits of a tensor, and the bits of an eager op of it."""
    if tensor is None:
        return None
    array = tensor._array
    steps = [step for size, step in zip(array.shape, array.strides, strict=True) if size > 1]
    return array.shape, steps, array.tobytes(), tf.sinh(tensor).numpy().tobytes()


@pytest.mark.parametrize("tapes", ["none", "inside", "outside"])
@pytest.mark.parametrize("name", VIEWS)
def test_views(name: str, tapes: str, way: str) -> None:
    if way == "portable" and tapes == "inside":
        pytest.skip("it is the interpreter's way")
    if way == "compiled" and (name not in COMPILED or tapes == "inside"):
        pytest.skip("it takes long to compile")
    program = Program(VIEWS[name], SIZES[way])
    expected, found = (program.outcome(wrap, tapes) for wrap in (lambda step: step, tf.function))
    for one, other in zip(expected, found, strict=True):
        for number, (each, result) in enumerate(zip(one, other, strict=True)):
            assert (each is None) == (result is None), number
            assert each is None or each[:2] == result[:2], number
            assert each == result, number


@pytest.mark.parametrize("name", [name for name in VIEWS if name in COMPILED])
def test_variables_that_are_assigned_views(name: str, way: str) -> None:
    view = VIEWS[name]
    array = np.random.default_rng(3).normal(size=SIZES[way]).astype("f4")

    def outcome(wrap: Any) -> list[Any]:
        v = tfe.Variable(tf.zeros_like(view(tf.constant(array))))

        def step(x: Any) -> Any:
            before = tf.reverse(v, [0])
            v.assign(view(x))
            middle = tf.sinh(v), tf.sinh(view(x)), tf.reverse(v, [1])
            v.assign_add(tf.exp(view(x)))
            return before, middle, v.value(), tf.transpose(v)

        run, found, held = wrap(step), [], []
        for number in range(4):
            held.append(nest.flatten(run(tf.constant(array + number))))
            found += [described(each) for each in [*held[-1], v.value()]]
            v.assign_sub(tf.ones_like(v))
        return [*found, *[described(each) for each in nest.flatten(held)]]

    assert outcome(tf.function) == outcome(lambda step: step)

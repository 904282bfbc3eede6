"""What tapes keep alive, and that nothing needs the garbage collector."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import agog_core as ag


@contextmanager
def no_garbage() -> Iterator[None]:
    """Assert that a block leaves nothing behind that only the garbage collector could free."""
    gc.collect()
    flags = gc.get_debug()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.disable()
        yield
        gc.collect()
        found = [(type(item).__name__, repr(item)[:200]) for item in gc.garbage]
    finally:
        gc.set_debug(flags)
        gc.garbage.clear()
        gc.enable()
    assert found == []


def living_tensors() -> int:
    return sum(type(item) is ag.Tensor for item in gc.get_objects())


def forward_and_backward() -> None:
    x = ag.constant([[1.0, 2.0]])
    v = ag.Variable([[3.0], [4.0]])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.reduce_sum(ag.tanh(ag.matmul(x, v)) * 2.0)
    tape.gradient(y, [x, v])


def without_backward() -> None:
    x = ag.constant([1.0, 2.0])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        ag.exp(x) * x + ag.split(x, 2)[0]


def second_order() -> None:
    x = ag.constant(2.0)
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    outer.gradient(first, x)


def gradient_inside_its_persistent_tape() -> None:
    x = ag.constant(2.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        tape.gradient(tape.gradient(y, x), x)


def own_gradient() -> None:
    v = ag.Variable(2.0)

    @ag.custom_gradient
    def double(x: ag.Tensor) -> Any:
        y = x * v
        return y, lambda dy, variables: (dy * v, [dy * x])

    ag.gradients_function(double)(3.0)
    ag.implicit_gradients(double)(3.0)


def training_step() -> None:
    v = ag.Variable([1.0, 2.0])
    for _ in range(3):
        (gradient, _), *_ = ag.implicit_gradients(lambda: v * v)()
        v.assign_sub(gradient * 0.1)


def an_error() -> None:
    try:
        with ag.GradientTape() as tape:
            x = ag.constant([1.0])
            tape.watch(x)
            ag.matmul(x * x, x)
    except ag.errors.InvalidArgumentError:
        pass


STEPS = [
    forward_and_backward,
    without_backward,
    second_order,
    gradient_inside_its_persistent_tape,
    own_gradient,
    training_step,
    an_error,
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.filterwarnings("ignore")
def test_nothing_is_left_behind(step: Callable[[], None]) -> None:
    step()  # what is cached is made now

    def left() -> int:
        gc.collect()
        before = living_tensors()
        with no_garbage():
            for _ in range(3):
                step()
        gc.collect()
        return living_tensors() - before

    # Three times at most: what other tests have left may make tensors meanwhile, and let go of some.
    assert any(left() <= 0 for _ in range(3))


def test_the_check_for_garbage_can_fail() -> None:
    def make_ring() -> None:
        ring: list[Any] = []
        ring.append(ring)

    with pytest.raises(AssertionError), no_garbage():
        make_ring()


def test_nothing_is_kept_without_a_tape() -> None:
    x = ag.constant([1.0, 2.0])
    y = ag.exp(x)
    gone = weakref.ref(y)
    z = y * x + 1.0
    del y
    assert gone() is None
    assert z.shape == (2,)


def test_a_tape_that_does_not_watch_keeps_nothing() -> None:
    x = ag.constant([1.0, 2.0])
    with ag.GradientTape() as tape:
        y = ag.exp(x)
        gone = weakref.ref(y)
        y = y * y
        assert gone() is None
    assert tape.records == []


def chain(op: Callable[[Any], Any]) -> tuple[ag.GradientTape, ag.Tensor, weakref.ref[Any], weakref.ref[Any], Any]:
    """``op(x * 3) * 5`` on a tape; weak references to the op's input and output."""
    x = ag.constant([1.0, 2.0])
    with ag.GradientTape() as tape:
        tape.watch(x)
        middle = x * 3.0
        after = op(middle)
        y = after * 5.0
    return tape, y, weakref.ref(middle), weakref.ref(after), x


@pytest.mark.parametrize(
    ("op", "keeps_input", "keeps_output"),
    [
        (ag.negative, False, False),
        (lambda x: x + 2.0, False, False),
        (lambda x: x - 2.0, False, False),
        (lambda x: x * 2.0, False, False),
        (ag.identity, False, False),
        (ag.reduce_sum, False, False),
        (lambda x: ag.reshape(x, (2, 1)), False, False),
        (lambda x: x[::-1], False, False),
        (lambda x: ag.concat([x, x], 0), False, False),
        (lambda x: ag.cast(x, ag.float64), False, False),
        (ag.exp, False, True),
        (ag.tanh, False, True),
        (ag.sigmoid, False, True),
        (ag.square, True, False),
        (ag.log, True, False),
    ],
)
def test_a_tape_keeps_only_what_the_gradients_need(
    op: Callable[[Any], Any], keeps_input: bool, keeps_output: bool
) -> None:
    _tape, _y, middle, after, _x = chain(op)
    assert middle() is None or keeps_input
    assert after() is None or keeps_output


def test_a_tape_frees_along_the_way_back() -> None:
    """The records near the target are gone before the gradient of those near the source is computed."""
    seen: list[bool] = []
    late: list[weakref.ref[Any]] = []

    @ag.custom_gradient
    def probe(x: ag.Tensor) -> Any:
        def grad(dy: ag.Tensor) -> ag.Tensor:
            seen.append(late[0]() is None)
            return dy

        return ag.identity(x), grad

    x = ag.constant([1.0, 2.0])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.square(probe(x) * 2.0 + 1.0)
        z = ag.exp(y)
        late.append(weakref.ref(z))
        w = z * 3.0
        del z
    assert tape.gradient(w, x).shape == (2,)
    assert seen == [True]


def test_nothing_is_kept_after_the_gradient() -> None:
    tape, y, _, after, x = chain(ag.exp)
    assert after() is not None
    tape.gradient(y, x)
    assert after() is None
    assert tape.records == []


def test_a_persistent_tape_keeps_until_it_goes() -> None:
    x = ag.constant([1.0, 2.0])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = ag.exp(x)
        kept = weakref.ref(y)
        y = y * 2.0
    tape.gradient(y, x)
    assert kept() is not None
    del tape
    assert kept() is None


def test_a_reset_frees() -> None:
    x = ag.constant([1.0, 2.0])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.exp(x)
        kept = weakref.ref(y)
        del y
        assert kept() is not None
        tape.reset()
        assert kept() is None


def test_a_tape_keeps_no_tensor_that_it_watches() -> None:
    x, v = ag.constant([1.0, 2.0]), ag.Variable([1.0, 2.0])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x + v
    watched, value = weakref.ref(x), weakref.ref(v.value())
    del x
    v.assign([3.0, 4.0])
    assert watched() is None
    assert value() is None
    assert tape.gradient(y, v).numpy().tolist() == [1.0, 1.0]


def test_variables_are_freed_with_their_last_reference() -> None:
    variables = [ag.Variable(np.zeros(1000))]
    gone = weakref.ref(variables[0])
    assert len(ag.implicit_gradients(lambda: variables[0] * variables[0])()) == 1
    assert gone() is not None
    variables.clear()
    assert gone() is None

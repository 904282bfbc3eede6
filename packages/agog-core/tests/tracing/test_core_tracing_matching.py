"""Calls of traced functions by arguments of the kind of the last call, which a function written for it takes."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.masks import own_mask, with_mask
from agog_core.tracing.functions import function as tracing_function
from agog_core.tracing.functions.function import function
from agog_core.tracing.traces import concrete
from agog_core.tracing.traces.matching import Matcher, matcher


@dataclass(frozen=True)
class Scale:
    number: float


class Text(str):
    __slots__ = ()


X, Y = ag.constant([1.0, 2.0]), ag.constant([3.0, 4.0])
BACKWARDS = ag.constant(np.arange(4.0, dtype="f4"))[::-1]
V, W = ag.Variable(1.0), ag.Variable(1.0)
TENSORS: list[Any] = [
    *((X,), (Y,), (X, Y), (X, X), (Y, X), (X, Y, X), (X, Y, Y), (X, X, X)),
    *((ag.constant([1.0]),), (ag.constant([1, 2]),), (ag.constant(1.0),), (ag.constant([1.0, 2.0], ag.float64),)),
    *((BACKWARDS,), (ag.constant(np.arange(4.0, dtype="f4")),), ([X, Y],), ((X, Y),), ([X], Y), ((X,), Y), ([X, X],)),
    *(({"a": X, "b": Y},), ({"b": Y, "a": X},), ({"a": X, "c": Y},), ({"a": [X], "b": Y},), ({"a": X},), ({},), ([],)),
    *(
        ((),),
        (),
        (None,),
        (X, None),
        ({"b": X, "a": Y},),
        ({Text("a"): X},),
        (OrderedDict(a=X),),
        ({1: X},),
        (X, [], {}),
    ),
]
PYTHON: list[Any] = [
    *(0, 1, True, False, 0.0, -0.0, 1.0, math.nan, math.inf, 0j, complex(0.0, -0.0), complex(-0.0, 0.0), "", "1", b"1"),
    *(Text("1"), np.float32(0.0), np.float32(-0.0), np.float64(0.0), np.float64("nan"), np.int32(0), np.bool_(True)),
    *(None, int, float, V, W, frozenset([0.0]), frozenset([-0.0]), frozenset([0]), range(0), range(1), Scale(0.0)),
    *(Scale(-0.0), (0.0,), (-0.0,), [0.0], {"a": 0.0}, {"a": -0.0}, {"a": 0}, {0.0: 1}, {-0.0: 1}, len, abs),
]
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    *((args, {}) for args in TENSORS),
    *(((value,), {}) for value in PYTHON),
    *(((X, value), {}) for value in PYTHON),
    *((args[:1], {"a": value}) for args in TENSORS[:3] for value in (0, 0.0, -0.0, True, X, Y)),
    *(((), kwargs) for kwargs in ({"a": X, "b": Y}, {"b": Y, "a": X}, {"a": X, "b": X}, {"a": X})),
]


def shown(value: Any) -> str:
    """A text of all that a function could tell two values by, but for what tensors hold and how."""
    kind = type(value).__name__
    if isinstance(value, Mapping):
        return f"{kind}{{{', '.join(f'{shown(key)}: {shown(each)}' for key, each in value.items())}}}"
    if isinstance(value, (list, tuple, frozenset)):
        return f"{kind}({', '.join(map(shown, value))})"
    if isinstance(value, ag.Tensor):
        return f"{value.dtype.name}{value.shape}"
    return f"{kind}:{id(value)}" if isinstance(value, ag.Variable) else f"{kind}:{value!r}"


def tensors(value: Any) -> list[Any]:
    """The tensors in a value, dicts by their sorted keys."""
    if isinstance(value, Mapping):
        return [each for key in sorted(value) for each in tensors(value[key])]
    if isinstance(value, (list, tuple)):
        return [each for part in value for each in tensors(part)]
    return [value] if isinstance(value, ag.Tensor) else []


def kind(args: Any, kwargs: Any) -> str:
    """What one trace is for."""
    found = tensors((args, kwargs))
    same = [min(n for n, other in enumerate(found) if other is each) for each in found]
    return f"{shown(args)} {shown(kwargs)} {same} {[each._array.strides for each in found if each.shape.as_list()]}"


def test_a_kind_is_taken_and_no_other() -> None:
    made: list[tuple[str, Matcher]] = []
    for args, kwargs in CALLS:
        match = matcher(args, kwargs, has_signature=False)
        if match is not None:
            made.append((kind(args, kwargs), match))
    assert len(made) == len(CALLS) - 11  # objects with fields, and dicts by other keys than texts
    for expected, match in made:
        for args, kwargs in CALLS:
            found = match(args, kwargs)
            assert (found is not None) == (kind(args, kwargs) == expected), (expected, args, kwargs)
            if found is not None:
                among = tensors((args, kwargs))
                assert len(found[1]) == len(among)
                assert all(x is y for x, y in zip(found[1], among, strict=True))
                assert all(array is x._array for array, x in zip(found[0], among, strict=True))


def test_calls_give_what_was_traced_for_them() -> None:
    def told(*args: Any, **kwargs: Any) -> Any:
        found = tensors((args, kwargs))
        same = [next(n for n, other in enumerate(found) if other is each) for each in found]
        total = ag.constant(0.0)
        for n, each in enumerate(found):
            total += ag.reduce_sum(ag.cast(each, ag.float32)) * (n + 1)
        return total, ag.constant(f"{shown((args, kwargs))} {same}")

    rng = np.random.default_rng(11)
    for turn in range(12):
        traced = function(told)
        for place in rng.integers(len(CALLS), size=10):
            args, kwargs = CALLS[place]
            for _ in range(3):
                found, expected = traced(*args, **kwargs), told(*args, **kwargs)
                assert found[0].numpy() == expected[0].numpy(), f"seed 11, turn {turn}"
                assert found[1].numpy() == expected[1].numpy(), f"seed 11, turn {turn}"


def test_the_key_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    before = tracing_function.key_of_call
    monkeypatch.setattr(tracing_function, "key_of_call", lambda *given: asked.append(given) or before(*given))
    for args, kwargs in [((X, 3), {}), (({"a": X, "b": [Y]},), {}), ((X,), {"rate": 0.5, "way": "same"}), ((V,), {})]:
        traced = function(lambda *args, **kwargs: ag.constant(1.0))
        asked.clear()
        for _ in range(6):
            traced(*args, **kwargs)
        assert len(asked) == 3  # the trace, the call that ran it, and the one at which that pays


def test_masks_are_asked_for() -> None:
    match = matcher((X,), {}, has_signature=False)
    assert match is not None
    x = with_mask(ag.constant([5.0, 6.0]), ag.constant([True, False]))
    assert match((X,), {}) is not None
    assert match((x,), {}) is None
    assert matcher((x,), {}, has_signature=False) is None
    traced = function(lambda x: ag.constant(own_mask(x) is not None))
    for _ in range(3):
        assert not traced(X).numpy()
    assert traced(x).numpy()
    assert not traced(X).numpy()


def test_numbers_that_a_signature_makes_tensors_of() -> None:
    traced = function(lambda x: x * 2.0, input_signature=[ag.TensorSpec([], ag.float32)])
    assert [float(traced(n)) for n in (1.0, 2.0, 3.0, 4.0)] == [2.0, 4.0, 6.0, 8.0]
    assert [float(traced(ag.constant(n))) for n in (1.0, 2.0, 3.0, 4.0)] == [2.0, 4.0, 6.0, 8.0]
    with pytest.raises(ValueError, match="must be a tensor of shape"):
        traced(ag.constant([1.0]))


def test_arguments_that_are_no_longer_taken_raise_as_before() -> None:
    traced = function(lambda x, n: x * n)
    for _ in range(3):
        traced(X, 2.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        traced(X)
    with pytest.raises(TypeError, match="must be tensors, or hashable; got a set"):
        traced(X, {1})
    np.testing.assert_array_equal(traced(X, 2.0).numpy(), [2.0, 4.0])


def test_calls_under_tapes_of_other_kinds_are_told_apart() -> None:
    """What a tape watches, arguments, and settings change between calls, and come back."""

    def step(parts: Any, scale: Any) -> Any:
        return ag.reduce_sum(parts["a"] * parts["b"] * scale), parts["a"] * scale

    def outcome(call: Any, a: Any, b: Any, scale: Any, watched: list[Any], is_paused: bool) -> list[Any]:
        with ag.GradientTape(persistent=True) as tape:
            tape.watch(watched)
            with tape.stop_recording() if is_paused else nullcontext():
                loss, other = call({"a": a, "b": b}, scale)
            total = loss * 2.0
        found = [loss, other, *[tape.gradient(each, [a, b, V]) for each in (total, other)]]
        return [None if each is None else each.numpy().tolist() for each in ag.nest.flatten(found)]

    traced, rng = function(step), np.random.default_rng(5)
    for turn in range(300):
        pair = [(X, Y), (X, X), (Y, X), (ag.constant(1.0), Y)][rng.integers(4)]
        scale = [2.0, 2, V, W, X][rng.integers(5)] if rng.integers(3) else 2.0
        scale = 2.0 if scale == 2 and type(scale) is int and rng.integers(2) else scale
        watched = [[], [pair[0]], [pair[1]], list(pair)][rng.integers(4)]
        given = (*pair, scale, watched, bool(rng.integers(4) == 0))
        for _ in range(rng.integers(1, 4)):
            assert outcome(traced, *given) == outcome(step, *given), f"seed 5, turn {turn}"


def test_what_takes_arguments_is_written_for_calls_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []

    def counted(*given: Any) -> Any:
        written.append(given)
        return matcher(*given)

    monkeypatch.setattr(concrete, "matcher", counted)
    f, one, other = function(lambda x: x * 2.0), ag.ones([1]), ag.ones([2])
    for _ in range(10):
        assert (f(one).numpy().tolist(), f(other).numpy().tolist()) == ([2.0], [2.0, 2.0])
    assert not written
    for _ in range(10):
        assert f(one).numpy().tolist() == [2.0]
    assert len(written) == 1


@pytest.mark.parametrize("signature", [None, [ag.TensorSpec([None], ag.float32)]])
def test_arrays_are_taken_as_tensors_are(signature: Any) -> None:
    """Also where a branch goes another way, an op fails, and under tapes."""
    kinds: list[Any] = []

    def python(x: Any) -> Any:
        kinds.append(type(x))
        if ag.reduce_sum(x) > 0.0:
            return ag.check_numerics(x, "x") * V
        return x

    f = function(python, signature)
    up, down, bad = np.array([1.0, 2.0], "f4"), np.array([-1.0, -2.0], "f4"), np.array([1.0, np.inf], "f4")
    scale = V.numpy()
    for _ in range(5):
        for given in (ag.constant(up), ag.constant(up), up, up, up):
            assert f(given).numpy().tolist() == (up * scale).tolist()
        assert f(down).numpy().tolist() == [-1.0, -2.0]
        with pytest.raises(InvalidArgumentError):
            f(bad)
        for _ in range(3):
            with ag.GradientTape() as tape:
                y = f(up)
            assert float(tape.gradient(y, V)) == up.sum()
        with ag.GradientTape() as tape:
            y = f(down)
        assert tape.gradient(y, V) is None
    up[0] = 5.0
    assert f(up).numpy().tolist() == (up * scale).tolist()
    assert set(kinds) == {ag.Tensor}

"""Concrete functions, and what traced functions take and return beside tensors."""

from __future__ import annotations

import gc
import weakref
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import TensorShape, TensorSpec, nest
from agog_core.tracing.functions.function import function

Pair = namedtuple("Pair", "a b")


@dataclass(frozen=True)
class Frozen:
    value: Any
    factor: int = 3


@dataclass
class Loose:
    value: Any
    name: str = "x"
    parts: Any = ()


@dataclass(frozen=True, slots=True)
class Slotted:
    value: Any


class Attrs:
    """As the package attrs makes them, without it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attrs) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return 0


Attrs.__attrs_attrs__ = (namedtuple("Attribute", "name")("value"),)  # type: ignore[attr-defined]


def test_what_a_concrete_function_says_before_it_is_called() -> None:
    v, frozen = ag.Variable([1.0, 2.0]), ag.Variable([0.0, 0.0], trainable=False)
    calls = []

    @function
    def step(x: Any, y: Any = None, scale: float = 2.0, *, flip: bool = False) -> Any:
        calls.append(1)
        v.assign_add([1.0, 1.0])
        scaled = x * scale * v + frozen
        return {"rows": -scaled if flip else scaled, "rest": Pair(ag.reduce_sum(x, 0), None)}

    found = step.get_concrete_function(TensorSpec([None, 2]), scale=3.0)
    assert found.inputs == [TensorSpec([None, 2])]
    assert found.structured_input_signature == ((TensorSpec([None, 2]),), {"scale": 3.0})
    assert found.output_dtypes == {"rows": ag.float32, "rest": Pair(ag.float32, None)}
    assert found.output_shapes["rows"].as_list() == [None, 2]
    assert found.output_shapes["rest"] == Pair(TensorShape([2]), None)
    assert [spec.shape.as_list() for spec in found.outputs] == [[2], [None, 2]]
    assert found.structured_outputs["rest"].a == TensorSpec([2])
    assert set(found.variables) == {v, frozen}
    assert found.trainable_variables == (v,)
    assert len(found.graph().nodes) > 0
    assert found.name == "step"
    assert (
        repr(found)
        == "<ConcreteFunction step(x: 'Any', y: 'Any' = None, scale: 'float' = 2.0, *, flip: 'bool' = False) -> 'Any'>"
    )
    assert v.numpy().tolist() == [1.0, 2.0]  # nothing has happened yet
    result = found(ag.ones([3, 2]))
    assert result["rows"].numpy().tolist() == [[6.0, 9.0]] * 3
    assert v.numpy().tolist() == [2.0, 3.0]
    assert len(found.traces()) == 1


def test_how_a_concrete_function_is_called() -> None:
    v = ag.Variable(2.0)

    @function
    def product(w: Any, x: Any, n: int, name: str = "a") -> Any:
        return w * x * n

    found = product.get_concrete_function(v, ag.constant([1.0, 2.0]), 3)
    x = ag.constant([2.0, 3.0])
    for call in (lambda: found(x), lambda: found(v, x, 3), lambda: found(x=x), lambda: found(x, n=3)):
        assert call().numpy().tolist() == [12.0, 18.0]
    v.assign(1.0)
    assert found(x).numpy().tolist() == [6.0, 9.0]
    with ag.GradientTape() as tape:
        loss = ag.reduce_sum(found(x))
    assert float(tape.gradient(loss, v)) == 15.0
    assert found.variables == (v,)
    failing: list[tuple[Any, type[Exception], str]] = [
        (lambda: found(), TypeError, "function: product: missing a required argument: 'x'; it takes x."),
        (
            lambda: found(x, n=4),
            ValueError,
            "function: argument 'n' of product is bound to 3; got 4. Leave it out, or make another concrete function.",
        ),
        (
            lambda: found(x, m=4),
            TypeError,
            "function: product: got an unexpected argument: 'm'; it takes x.",
        ),
        (
            lambda: found(ag.ones([3])),
            ValueError,
            "function: argument 'x' of product must be a tensor of shape (2,) and dtype float32, by its input "
            "signature; got shape (3,) and dtype float32.",
        ),
        (lambda: found(ag.Variable(1.0), x, 3), ValueError, "Leave it out, or make another concrete function."),
    ]
    for call, kind, text in failing:
        with pytest.raises(kind) as error:
            call()
        assert text in str(error.value)


def test_a_concrete_function_of_structures_and_of_a_signature() -> None:
    @function
    def total(pair: Any, factor: Any) -> Any:
        return pair.a["x"] * factor + pair.b

    given = Pair({"x": ag.constant([1.0])}, ag.constant(2.0))
    found = total.get_concrete_function(given, 2.0)
    assert found.output_shapes == TensorShape([1])
    assert found(given).numpy().tolist() == [4.0]
    assert [spec.shape.as_list() for spec in found.inputs] == [[1], []]

    doubled = function(lambda x: x * 2, input_signature=[TensorSpec([None], ag.int32)]).get_concrete_function()
    assert doubled.output_shapes.as_list() == [None]
    assert doubled.output_dtypes is ag.int32
    assert doubled(ag.constant([1, 2])).numpy().tolist() == [2, 4]

    class Model:
        def __init__(self) -> None:
            self.w = ag.Variable(3.0)

        @function
        def call(self, x: Any) -> Any:
            return x * self.w

    model = Model()
    called = model.call.get_concrete_function(TensorSpec([]))
    assert float(called(ag.constant(2.0))) == 6.0
    assert called.variables == (model.w,)


def test_variables_are_taken_by_what_they_are() -> None:
    @function
    def add(v: Any, x: Any) -> Any:
        v.assign_add(x)
        return v * x

    first, second = ag.Variable(1.0), ag.Variable(10.0)
    for n in range(1, 4):
        assert float(add(first, ag.constant(1.0))) == 1.0 + n
        assert float(add(second, ag.constant(2.0))) == 2 * (10.0 + 2.0 * n)
    assert (float(first), float(second), len(add.traces())) == (4.0, 16.0, 2)
    with ag.GradientTape() as tape:
        loss = function(lambda pair: pair[0] * pair[1])([first, second])
    assert [float(g) for g in tape.gradient(loss, [first, second])] == [16.0, 4.0]


@pytest.mark.parametrize("make", [Frozen, Loose, Slotted, Attrs])
def test_objects_with_fields_are_structures(make: Any) -> None:
    @function
    def double(given: Any) -> Any:
        return make(given.value * 2.0), None, getattr(given, "factor", 1)

    for value in (1.0, 2.0, 3.0):
        made, nothing, _ = double(make(ag.constant(value)))
        assert type(made) is make
        assert nothing is None
        assert float(made.value) == 2 * value
    assert len(double.traces()) == 1
    array, _, _ = double(make(np.ones(2, "f4")))
    assert array.value.numpy().tolist() == [2.0, 2.0]
    assert len(double.traces()) == 2

    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = double(make(x))[0].value
    assert float(tape.gradient(y, x)) == 2.0


def test_fields_without_tensors_are_compared() -> None:
    @function
    def scaled(x: Any, options: Any) -> Any:
        return x * options.factor if isinstance(options, Frozen) else x * len(options.parts)

    x = ag.constant(2.0)
    assert [float(scaled(x, Frozen(None, n))) for n in (2, 3, 2)] == [4.0, 6.0, 4.0]
    assert [float(scaled(x, Loose(None, parts=tuple(range(n))))) for n in (2, 3, 2)] == [4.0, 6.0, 4.0]
    assert len(scaled.traces()) == 4
    nested = function(lambda given: given.parts[0].value + given.value)
    assert float(nested(Loose(x, parts=[Frozen(x)]))) == 4.0
    assert nest.flatten(function(lambda x: Loose(None, "n"))(x))[0] is not None


def test_later_calls_of_a_concrete_function_are_checked_too_and_keep_nothing() -> None:
    def python(x: Any, factor: float, y: Any) -> Any:
        return x * factor - y

    concrete = function(python).get_concrete_function(
        TensorSpec([None], ag.float32), 2.0, TensorSpec([None], ag.float32)
    )
    x, y = ag.constant([1.0, 2.0]), ag.constant([3.0, 5.0])
    for _ in range(5):
        assert concrete(x, y).numpy().tolist() == [-1.0, -1.0]
        assert concrete(y, x).numpy().tolist() == [5.0, 8.0]
        assert concrete(x, x).numpy().tolist() == [1.0, 2.0]
        assert concrete(x, y=y).numpy().tolist() == [-1.0, -1.0]
        assert concrete(x, 2.0, y).numpy().tolist() == [-1.0, -1.0]
        assert concrete(ag.constant([1.0]), ag.constant([0.5])).numpy().tolist() == [1.5]
        with pytest.raises(ValueError, match="must be a tensor of shape"):
            concrete(x, ag.constant([1, 2]))
        with pytest.raises(TypeError, match="missing a required argument: 'y'"):
            concrete(x)
        with pytest.raises(TypeError):
            concrete(x, y, y, y)
    held = weakref.ref(x)
    del x
    gc.collect()
    assert held() is None

"""What is written after a tensor by habit: it works, or its error says what to write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_compat import habits
from agog_testing import says


@pytest.mark.parametrize("make", [ag.constant, ag.Variable], ids=["Tensor", "Variable"])
def test_what_works(make: Any) -> None:
    assert make(2.5).item() == 2.5
    assert type(make([[True]]).item()) is bool
    assert make([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    with ag.GradientTape() as tape:
        x = make(3.0)
        tape.watch(x)
        y = x.detach() * x
    assert float(tape.gradient(y, x)) == 3.0
    with says(ValueError, "item: the tensor must have one element; got shape (2,). Use x.tolist()."):
        make([1, 2]).item()


def test_texts_work() -> None:
    assert (ag.constant("a").item(), ag.constant("a").tolist(), ag.constant(["a"]).tolist()) == (b"a", b"a", [b"a"])


@pytest.mark.parametrize("name", habits.SAID_INSTEAD)
@pytest.mark.parametrize("make", [ag.constant, ag.Variable], ids=["Tensor", "Variable"])
def test_what_teaches(make: Any, name: str) -> None:
    x = make([1.0, 2.0])
    with says(AttributeError, f"{type(x).__name__}.{name}: not in agog; use {habits.SAID_INSTEAD[name]}"):
        getattr(x, name)
    assert not hasattr(x, name)


@pytest.mark.parametrize("name", habits.OF_VARIABLES)
def test_what_variables_teach(name: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(ag.Variable(1.0), name)
    assert str(error.value).endswith(f"Variable.{name}: not in agog; use {habits.OF_VARIABLES[name]}")


def test_other_classes_teach_too_but_for_what_they_have() -> None:
    class Machine:
        train = "a method of its own"

    class Derived(Machine):
        pass

    habits.teach(Machine, {"train": "m.fit", "parameters": "m.trainable_variables"})
    machine: Any = Derived()
    with says(AttributeError, "Derived.parameters: not in agog; use m.trainable_variables"):
        machine.parameters  # noqa: B018  # what is tested
    assert machine.train == "a method of its own"
    machine.parameters = 3
    assert machine.parameters == 3


@pytest.mark.parametrize(
    "function",
    [
        np.sum,
        np.mean,
        np.max,
        np.std,
        np.prod,
        np.argmax,
        np.cumsum,
        np.sort,
        np.transpose,
        np.squeeze,
        np.round,
        np.any,
    ],
)
def test_numpy_goes_its_own_way(function: Any) -> None:
    x = np.array([[1.5, -2.0], [0.0, 4.0]], "f4")
    found, expected = function(ag.constant(x)), function(x)
    assert type(found) is type(expected)
    np.testing.assert_array_equal(found, expected)

"""Versions: a number for each value that a variable's memory has held."""

from __future__ import annotations

import gc
import random
import threading
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.plugin import version
from agog_core.tensors.convert import from_host
from agog_core.variables import memory
from agog_core.variables.memory import give_back, lend, take, updating
from agog_core.variables.variable import Variable


def of(variable: Variable) -> int | None:
    return version(variable._current()._array)


def test_a_version_stays_while_nothing_is_written() -> None:
    v = Variable([1.0, 2.0])
    first = of(v)
    assert isinstance(first, int)
    _ = v + v
    v.numpy()
    assert of(v) == first


def test_every_way_to_write_gives_another_version() -> None:
    v, one = Variable([1.0, 2.0]), ag.constant([1.0, 1.0])
    writes = {
        "assign": lambda: v.assign([3.0, 4.0]),
        "assign_add": lambda: v.assign_add(one),
        "assign_sub": lambda: v.assign_sub([1.0, 1.0]),
        "step": lambda: ag.apply_gradient_descent(v, one, 0.5) if hasattr(ag, "apply_gradient_descent") else None,
        "slice": lambda: v[0].assign(9.0),
        "scatter": lambda: ag.scatter_add(v, [0], [1.0]),
        "lend": lambda: lend(from_host(np.ones(2, np.float32), v._current()._table), v),
        "after lend": lambda: v.assign_add(one),
        "while it is held": lambda: (held.append(v.value()), v.assign_add(one)),
    }
    held: list[Any] = []
    seen = [of(v)]
    for write in writes.values():
        before = v.numpy().tolist()
        write()
        if v.numpy().tolist() != before:
            seen.append(of(v))
    assert None not in seen
    assert len(seen) == len(set(seen)) >= 8


def test_arrays_of_no_variable_have_none() -> None:
    v = Variable([1.0])
    held = v.value()
    assert version(held._array) is not None
    v.assign_add([1.0])  # into other memory, since the old value is held
    assert version(held._array) is None
    assert of(v) is not None
    assert version((held + held)._array) is None
    assert version(object()) is None
    assert version(np.ones(1)) is None


def test_memory_that_is_being_written_has_none() -> None:
    v = Variable([1.0])
    before = of(v)
    with updating:
        (array,) = take([v])
        assert version(array) is None
        give_back([v], None)
    assert version(array) not in (None, before)


def test_an_address_and_a_version_never_stand_for_two_values() -> None:
    if not hasattr(Variable([1.0])._current()._array, "ctypes"):
        pytest.skip("this device's arrays do not tell where they lie")
    seed = 20181108
    print("seed", seed)
    generator = random.Random(seed)
    known: dict[tuple[int, int], float] = {}
    variables: list[Variable] = []
    value = 0.0
    for _ in range(3000):
        value += 1.0
        choice = generator.random()
        if choice < 0.3 or not variables:
            variables.append(Variable([value]))
        elif choice < 0.5:
            variables.pop(generator.randrange(len(variables)))
        elif choice < 0.75:
            generator.choice(variables).assign([value])
        else:
            generator.choice(variables).assign_add([value])
        for each in generator.sample(variables, min(3, len(variables))):
            array = each._current()._array
            number = version(array)
            assert number is not None
            place = array.ctypes.data, number
            assert known.setdefault(place, float(array[0])) == float(array[0])


def test_a_version_read_by_threads_is_never_stale() -> None:
    if not hasattr(Variable([1.0])._current()._array, "ctypes"):
        pytest.skip("this device's arrays do not tell where they lie")
    v = Variable(np.zeros(2, np.float32))
    known: dict[tuple[int, int], float] = {}
    wrong: list[Any] = []
    is_done = threading.Event()

    def read() -> None:
        while not is_done.is_set():
            array = v.value()._array
            number = version(array)
            if number is not None:
                value = float(array[0])
                if known.setdefault((array.ctypes.data, number), value) != value:
                    wrong.append((number, value))

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(2000):
        v.assign_add([1.0, 1.0])
    is_done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert v.numpy().tolist() == [2000.0, 2000.0]


def test_variables_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_most", 100)
    keep = [Variable([1.0]) for _ in range(10)]
    numbers = [of(v) for v in keep]
    for _ in range(5000):
        Variable([1.0])
    gc.collect()
    for v in keep[:5]:
        for _ in range(1000):
            v.assign([2.0])
    assert len(memory._variables) < 4000
    assert [of(v) for v in keep[5:]] == numbers[5:]
    assert None not in [of(v) for v in keep]

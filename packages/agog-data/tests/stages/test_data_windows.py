"""Windows, and datasets as components of elements."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import values

import agog_core as ag
from agog_data import Dataset
from agog_data.transformations.filtering import unique
from agog_data.transformations.placement import copy_to_device
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError
Pair = namedtuple("Pair", ["x", "y"])


def windows(count: int, size: int, shift: int, stride: int, drop: bool) -> list[list[int]]:
    reach = (size - 1) * stride + 1
    found = [list(range(begin, min(begin + reach, count), stride)) for begin in range(0, count, shift)]
    return [each for each in found if len(each) == size] if drop else found


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 12), st.integers(1, 5), st.integers(1, 7), st.integers(1, 4), st.booleans())
def test_windows_begin_every_shift(count: int, size: int, shift: int, stride: int, drop: bool) -> None:
    expected = windows(count, size, shift, stride, drop)
    assert values(Dataset.range(count).window(size, shift, stride, drop)) == expected


def test_a_window_begins_behind_the_one_before() -> None:
    assert values(Dataset.range(5).window(2)) == [[0, 1], [2, 3], [4]]


def test_each_component_is_a_dataset_of_its_own() -> None:
    source = Dataset.from_tensor_slices(Pair({"a": [[1.0], [2.0], [3.0]]}, ["u", "v", "w"]))
    dataset = source.window(2)
    first, last = dataset
    assert isinstance(first, Pair)
    assert values(first.x["a"]) == [[1.0], [2.0]]
    assert values(last.y) == [b"w"]
    assert first.x["a"].output_types == ag.float32
    assert first.x["a"].output_shapes.as_list() == [1]
    assert values(first.y) == values(first.y), "a window can be read again"
    component = dataset.output_types.x["a"]
    assert (component.output_types, component.output_shapes.as_list()) == (ag.float32, [1])
    assert component.output_classes is ag.Tensor
    assert dataset.output_shapes.x["a"].output_types == ag.float32
    assert dataset.output_classes.x["a"].output_types == ag.float32
    assert repr(dataset.output_types.y) == "<dataset of types <dtype: 'string'> and shapes ()>"


def test_elements_of_different_shapes_make_windows() -> None:
    dataset = Dataset.range(4).map(lambda n: ag.ones([int(n)], ag.int32)).window(3)
    assert values(dataset) == [[[], [1], [1, 1]], [[1, 1, 1]]]


def test_functions_take_windows_and_give_them_back() -> None:
    dataset = Dataset.range(5).window(2).map(lambda w: (w, w.skip(1))).filter(lambda w, rest: len(values(rest)) > 0)
    assert values(dataset) == [([0, 1], [1]), ([2, 3], [3])]
    assert values(dataset.flat_map(lambda w, rest: rest.concatenate(w))) == [1, 0, 1, 3, 2, 3]
    assert dataset.output_types[1].output_types == ag.int64
    both = Dataset.range(2).window(2).concatenate(Dataset.range(3).window(1)).shuffle(1)
    assert values(both) == [[0, 1], [0], [1], [2]]
    assert both.output_types.output_types == ag.int64


def pairs() -> Dataset:
    return Dataset.from_tensor_slices((np.arange(7.0), [f"name {i}" for i in range(7)])).map(lambda x, y: (x * 2, y))


def test_a_window_itself_resumes() -> None:
    (window,) = Dataset.range(4).window(4)
    iterator = iter(window)
    next(iterator)
    (again,) = Dataset.range(4).window(4)
    resumed = iter(again)
    resumed.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
    assert values(resumed) == [1, 2, 3]


def test_windows_cannot_be_batched() -> None:
    dataset = Dataset.range(4).window(2).batch(2)
    expected = (
        "batch: component 0 of the elements is a dataset, and datasets cannot be joined; "
        "make elements of it with flat_map() first."
    )
    with says(TypeError, expected):
        next(iter(dataset))
    with says(TypeError, expected):
        dataset.output_types  # noqa: B018  # the access is what is tested


def test_stages_that_look_into_tensors_refuse_windows(tmp_path: Path) -> None:
    windows = Dataset.range(4).window(2)
    refusing = {
        "cache": windows.cache(str(tmp_path / "cache")),
        "copy_to_device": windows.apply(copy_to_device("/cpu:0")),
        "unique": windows.apply(unique()),
    }
    for name, dataset in refusing.items():
        with says(
            TypeError,
            f"{name}: component 0 of the elements is a dataset, and only tensors can be taken; "
            "make elements of it with flat_map() first.",
        ):
            next(iter(dataset))
    assert values(windows.cache().repeat(2)) == [[0, 1], [2, 3]] * 2


def test_only_windows_can_be_saved() -> None:
    dataset = Dataset.range(4).map(lambda n: Dataset.range(n)).shuffle(2)
    iterator = iter(dataset)
    next(iterator)
    with says(
        InvalidArgumentError,
        "state_dict: an element that the iterator holds has a component that is a dataset, and only those that "
        "window() makes can be saved; let flat_map() make the dataset.",
    ):
        iterator.state_dict()


def test_broken_buffers_are_refused() -> None:
    def error(change: Callable[[list[Any]], Any]) -> str:
        dataset = pairs().window(3, 1)
        iterator = iter(dataset)
        next(iterator)
        state = json.loads(json.dumps(iterator.state_dict()))
        state["buffer"] = change(state["buffer"])
        with pytest.raises(InvalidArgumentError) as info:
            iterator.load_state_dict(state)
        assert len(values(iterator)) == 6
        return str(info.value)

    assert error(lambda buffer: buffer[:-1]) == (
        "load_state_dict: a buffer holds 3 components; the elements have 2 each."
    )
    assert error(lambda buffer: [{"buffer": []}, *buffer[1:]]) == (
        "load_state_dict: a buffer holds a dataset in the place of another component."
    )


def test_arguments_are_checked() -> None:
    for name, arguments in {"size": (0,), "shift": (1, 0), "stride": (1, 1, 0)}.items():
        with says(InvalidArgumentError, f"window: {name} must be greater than zero; got 0."):
            Dataset.range(1).window(*arguments)

"""Iterators: TensorFlow's interface, and positions that can be saved."""

from __future__ import annotations

import copy
import json
import pickle
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pipelines import noise, values

import agog_core as ag
from agog_data import Dataset, Iterator
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError
Pair = namedtuple("Pair", ["image", "label"])


def test_next_and_get_next() -> None:
    iterator = Iterator(Dataset.range(3))
    assert int(iterator.next()) == 0
    assert int(iterator.get_next()) == 1
    assert int(next(iterator)) == 2
    for _ in range(2):
        with pytest.raises(StopIteration):
            iterator.next()
        with pytest.raises(StopIteration):
            next(iterator)
        with says(ag.errors.OutOfRangeError, "End of sequence: the iterator has given all elements of its dataset."):
            iterator.get_next()


@pytest.mark.parametrize("make", [lambda: Dataset.range(0), lambda: Dataset.range(3).filter(lambda x: x > 5)])
def test_a_dataset_without_elements_says_so(make: Any) -> None:
    iterator = Iterator(make())
    for _ in range(2):
        with says(ag.errors.OutOfRangeError, "End of sequence: the dataset has no elements."):
            iterator.get_next()
    iterator.load_state_dict(iterator.state_dict())
    with says(ag.errors.OutOfRangeError, "End of sequence: the iterator has given all elements of its dataset."):
        iterator.get_next()


def test_an_iterator_is_its_own_iterator() -> None:
    iterator = Dataset.range(4).make_one_shot_iterator()
    assert isinstance(iterator, Iterator)
    assert isinstance(iterator, ag.Checkpointable)
    assert iter(iterator) is iterator
    next(iterator)
    assert values(iterator) == [1, 2, 3]
    assert values(iterator) == []


def test_specs_are_those_of_the_dataset() -> None:
    dataset = Dataset.from_tensor_slices({"x": np.zeros((3, 2), np.float32)}).batch(2)
    iterator = Iterator(dataset)
    assert iterator.output_types == {"x": ag.float32}
    assert iterator.output_shapes["x"].as_list() == [None, 2]
    assert iterator.output_classes == {"x": ag.Tensor}


def test_only_a_dataset_has_an_iterator() -> None:
    with says(TypeError, "Iterator: a Dataset is expected; got [1, 2] of type list."):
        Iterator([1, 2])  # type: ignore[arg-type]


def test_no_function_runs_twice_for_an_element() -> None:
    calls: list[int] = []
    dataset = Dataset.range(12).map(lambda x: calls.append(int(x)) or x).shuffle(4).take(10)
    iterator = iter(dataset)
    for _ in range(5):
        next(iterator)
    state = iterator.state_dict()
    del iterator
    before = len(calls)
    resumed = iter(dataset)
    resumed.load_state_dict(state)
    after_load = len(calls) - before  # one call, to know the structure of the saved elements
    assert after_load <= 1
    values(resumed)
    assert calls[before + after_load :] == [9, 10, 11]


def test_a_checkpoint_holds_the_position() -> None:
    iterator = Iterator(Dataset.range(5))
    next(iterator)
    state = json.loads(json.dumps(iterator.checkpoint_state()))
    other = Iterator(Dataset.range(5))
    other.restore_checkpoint_state(state)
    assert values(other) == [1, 2, 3, 4]


def test_the_state_of_a_source_is_small() -> None:
    iterator = iter(Dataset.range(10**6).shuffle(10**5).repeat().batch(128).map(lambda x: x).prefetch(2))
    next(iterator)
    assert len(json.dumps(iterator.state_dict())) < 1500


def broken(state: Any, *path: Any, value: Any) -> Any:
    state = json.loads(json.dumps(state))
    part = state
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return state


FITS = "A state fits only an iterator over a dataset with the same stages."


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda s: [], "load_state_dict: a dict is expected; got [] of type list."),
        (
            lambda s: {},
            f"load_state_dict: state is of stage None; the iterator has stage 'batch' there. {FITS}",
        ),
        (
            lambda s: iter(Dataset.range(3).map(noise).batch(2)).state_dict() | {"input": s},
            "load_state_dict: state['input'] is of stage 'batch'; the iterator has stage 'shuffle' there. " + FITS,
        ),
        (
            lambda s: broken(s, "number", value="1"),
            f"load_state_dict: state['number'] is '1'; a value of type int is expected. {FITS}",
        ),
        (
            lambda s: broken(s, "input", "draws", value=-1),
            f"load_state_dict: state['input']['draws'] is -1; it cannot be negative. {FITS}",
        ),
        (
            lambda s: broken(s, "input", "order", "key", value=[1]),
            f"load_state_dict: state['input']['order']['key'] has 1 parts; 2 are expected. {FITS}",
        ),
        (
            lambda s: broken(s, "input", "order", "key", value=3),
            f"load_state_dict: state['input']['order']['key'] is 3; a list is expected. {FITS}",
        ),
        (
            lambda s: broken(s, "input", "order", value=3),
            f"load_state_dict: state['input']['order'] is 3; a dict is expected. {FITS}",
        ),
        (
            lambda s: broken(s, "input", "order", value={}),
            "load_state_dict: state['input']['order'] has the keys []; ['iteration', 'key', 'number'] are expected. "
            + FITS,
        ),
        (
            lambda s: broken(s, "input", "buffer", value=[{"dtype": "int64"}]),
            "load_state_dict: a buffer holds what is no encoded tensor: 'shape'.",
        ),
        (
            lambda s: broken(s, "input", "buffer", value=[{"dtype": "int64", "shape": [2], "base64": "AAAA"}]),
            "load_state_dict: a buffer holds what is no encoded tensor: buffer size must be a multiple of element "
            "size.",
        ),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(change: Callable[[Any], Any], text: str) -> None:
    iterator = iter(Dataset.range(9).map(lambda x: x).shuffle(3, seed=1).batch(2))
    next(iterator)
    state = iterator.state_dict()
    with says(InvalidArgumentError, text):
        iterator.load_state_dict(change(state))
    assert iterator.state_dict() == state


@pytest.mark.parametrize("copy", [copy.copy, copy.deepcopy, pickle.dumps])
def test_iterators_cannot_be_copied(copy: Any) -> None:
    with says(
        TypeError,
        "An Iterator cannot be copied or pickled, because threads, files and generators cannot. Make another "
        "one of its dataset, and hand over the place with state_dict() and load_state_dict().",
    ):
        copy(Iterator(Dataset.range(3)))

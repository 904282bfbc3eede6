"""Devices: where elements appear, where functions run, and who may prefetch; optional values."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from pipelines import values

import agog_core as ag
from agog_data import Dataset, Iterator
from agog_data.transformations.optional import Optional, get_next_as_optional, make_saveable_from_iterator
from agog_data.transformations.placement import copy_to_device, prefetch_to_device
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError
needs_fake = pytest.mark.skipif(
    ag.count_devices("fake") < 2, reason='the plugin "fake" with its two devices is not loaded'
)
CPU, ONE = "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:FAKE:1"


def devices(element: Any) -> set[str]:
    return {x.device for x in ag.nest.flatten(element)}


@needs_fake
@pytest.mark.parametrize("inside", [True, False])
def test_an_iterator_brings_elements_to_the_device_of_its_scope(inside: bool) -> None:
    seen: list[str] = []

    def function(x: Any, name: Any) -> Any:
        seen.append(x.device)
        return x + 1, name

    dataset = Dataset.from_tensor_slices(([1.0, 2.0, 3.0, 4.0], ["a", "b", "c", "d"])).shuffle(2).map(function, 2)
    dataset = dataset.batch(2).prefetch(1)
    with ag.device("fake:1"):
        iterator = Iterator(dataset)
        if inside:
            elements = list(iterator)
    if not inside:
        elements = list(iterator)
    # The device holds no strings; they stay on the host.
    assert [[x.device for x in element] for element in elements] == [[ONE, CPU]] * 2
    assert set(seen) == {ONE}
    with ag.device("cpu:0"):
        assert all(devices(element) == {CPU} for element in dataset)


@needs_fake
@pytest.mark.parametrize("scope", [None, "fake:0"])
def test_copy_to_device_lets_functions_work_on_the_source(scope: str | None) -> None:
    seen: list[str] = []

    def function(x: Any) -> Any:
        y = ag.constant(2.0) * x
        seen.append(y.device)
        return {"x": x, "y": y}

    dataset = Dataset.from_tensor_slices([1.0, 2.0]).map(function, 2).apply(copy_to_device("fake:1"))
    with ag.device(scope):
        elements = list(dataset)
        assert dataset.output_types == {"x": ag.float32, "y": ag.float32}
    assert [float(element["y"]) for element in elements] == [2.0, 4.0]
    assert all(devices(element) == {ONE} for element in elements)
    assert set(seen) == {CPU}
    back = Dataset.range(2).apply(copy_to_device("/cpu:0", source_device="/device:fake:1"))
    assert all(devices(element) == {CPU} for element in back)


@needs_fake
def test_prefetch_to_device_works_ahead() -> None:
    made = [threading.Event() for _ in range(5)]
    others = set(threading.enumerate())

    def function(x: Any) -> Any:
        made[int(x)].set()
        return x

    dataset = Dataset.range(5).map(function).apply(prefetch_to_device("fake:1", buffer_size=2))
    iterator = iter(dataset)
    assert isinstance(iterator, Iterator)
    first = next(iterator)
    assert devices(first) == {ONE}
    assert made[2].wait(20)
    assert [t.name for t in threading.enumerate() if t.name == "agog-prefetch" and t not in others]
    rest = list(iterator)
    assert devices(rest) == {ONE}
    assert [int(x) for x in [first, *rest]] == [0, 1, 2, 3, 4]
    assert [t.name for t in threading.enumerate() if t.name == "agog-prefetch" and t not in others] == []
    assert values(dataset.make_one_shot_iterator()) == [0, 1, 2, 3, 4]


def test_an_empty_name_means_the_cpu() -> None:
    devices = [x.device.lower() for x in Dataset.range(2).apply(prefetch_to_device(""))]
    assert [device.rpartition("/")[2] for device in devices] == ["device:cpu:0"] * 2


def test_prefetch_to_device_is_the_last_and_for_no_iterator() -> None:
    dataset = Dataset.range(5).apply(prefetch_to_device("/cpu:0"))
    with says(
        TypeError,
        "Iterator: it brings elements to the current device, and prefetch_to_device has brought them to another; "
        "use `for element in dataset`, or make the iterator without prefetch_to_device.",
    ):
        Iterator(dataset)
    with says(NotImplementedError, "prefetch_to_device must be the last transformation; apply it after all others."):
        dataset.map(lambda x: x)
    assert dataset.output_types == ag.int64


def test_errors_of_devices() -> None:
    for transformation in (copy_to_device, prefetch_to_device):
        with pytest.raises(InvalidArgumentError, match="/job:localhost/replica:0/task:0/device:GPU:99 unknown device"):
            transformation("/gpu:99")
        with pytest.raises(ValueError, match="7seas"):
            transformation("7seas")
    with says(InvalidArgumentError, "prefetch_to_device: buffer_size must be greater than zero; got 0."):
        prefetch_to_device("/cpu:0", 0)


def test_optional_values() -> None:
    iterator = iter(Dataset.range(1).map(lambda x: {"a": x}))
    one, none = get_next_as_optional(iterator), get_next_as_optional(iterator)
    assert one.has_value().dtype == ag.bool
    assert (bool(one.has_value()), bool(none.has_value())) == (True, False)
    assert values([one.get_value()]) == [{"a": 0}]
    assert none.value_structure == {"a": ag.int64}
    with says(InvalidArgumentError, "Optional.get_value: there is no value; ask has_value() first."):
        none.get_value()
    assert values([Optional.from_value(([1, 2], 3.0)).get_value()]) == [([1, 2], 3.0)]
    with says(TypeError, "get_next_as_optional: an iterator of a dataset is expected; got [1]."):
        get_next_as_optional([1])  # type: ignore[arg-type]


def test_an_iterator_saves_itself() -> None:
    iterator = iter(Dataset.range(3))
    assert make_saveable_from_iterator(iterator) is iterator
    assert isinstance(iterator, ag.Checkpointable)
    with pytest.raises(TypeError) as info:
        make_saveable_from_iterator(Dataset.range(3))  # type: ignore[arg-type]
    assert str(info.value).startswith("make_saveable_from_iterator: an iterator of a dataset is expected; got <")

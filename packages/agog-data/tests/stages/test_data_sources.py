"""Where elements come from, and the structures that they have."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
from pipelines import values

import agog_core as ag
from agog_data import Dataset
from agog_testing import says

Point = namedtuple("Point", ["x", "y"])


def test_slices_of_an_array() -> None:
    assert values(Dataset.from_tensor_slices(np.arange(6).reshape(3, 2))) == [[0, 1], [2, 3], [4, 5]]


def test_python_numbers_become_the_dtypes_of_constants() -> None:
    dataset = Dataset.from_tensor_slices(([1.5, 2.5], [1, 2], [True, False], ["a", "b"]))
    assert dataset.output_types == (ag.float32, ag.int32, ag.bool, ag.string)
    first = next(iter(dataset))
    assert [x.dtype for x in first] == [ag.float32, ag.int32, ag.bool, ag.string]
    assert [x.numpy() for x in first] == [1.5, 1, True, b"a"]


def test_a_list_is_a_tensor_and_no_structure() -> None:
    assert values(Dataset.from_tensor_slices([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert values(Dataset.from_tensors([[1, 2], [3, 4]])) == [[[1, 2], [3, 4]]]


@pytest.mark.parametrize(
    ("structure", "first"),
    [
        (([1, 2], {"b": [3, 4], "a": [5, 6]}), (1, {"b": 3, "a": 5})),
        ({"b": [1, 2], "a": ([3, 4],)}, {"b": 1, "a": (3,)}),
        (Point([1, 2], ([3, 4], [5, 6])), Point(1, (3, 5))),
        (OrderedDict([("z", [1, 2]), ("y", [3, 4])]), OrderedDict([("z", 1), ("y", 3)])),
        (([1, 2],), (1,)),
    ],
)
def test_elements_have_the_structure_of_the_source(structure: Any, first: Any) -> None:
    dataset = Dataset.from_tensor_slices(structure)
    element = ag.nest.map_structure(lambda t: int(t), next(iter(dataset)))
    assert element == first
    assert type(element) is type(first)
    assert type(next(iter(dataset.batch(2)))) is type(first)
    assert type(next(iter(dataset.map(lambda *parts: parts)))) is tuple


def test_from_tensors_is_one_element() -> None:
    dataset = Dataset.from_tensors((3, np.zeros((2, 5))))
    (element,) = dataset
    assert [x.shape.as_list() for x in element] == [[], [2, 5]]
    assert dataset.output_shapes[1] == (2, 5)


def test_tensors_and_variables_are_sources() -> None:
    variable = ag.Variable([1.0, 2.0])
    dataset = Dataset.from_tensor_slices((ag.constant([3, 4]), variable))
    variable.assign([8.0, 9.0])
    variable.assign_add([1.0, 1.0])
    assert values(dataset) == [(3, 1.0), (4, 2.0)]


def test_a_source_keeps_its_values_when_the_array_is_written() -> None:
    array = np.arange(3)
    dataset = Dataset.from_tensor_slices(array)
    array[:] = -1
    assert values(dataset) == [0, 1, 2]


def test_an_element_that_becomes_a_variable_leaves_the_source_alone() -> None:
    dataset = Dataset.from_tensor_slices(np.ones((2, 3), np.float32))
    for each in (dataset, dataset.batch(2)):
        variable = ag.Variable(next(iter(each)))
        variable.assign_add(ag.ones_like(variable))
        assert values(dataset) == [[1.0] * 3] * 2
        assert float(ag.reduce_max(variable)) == 2.0


def test_elements_cannot_be_written() -> None:
    dataset = Dataset.from_tensor_slices(np.zeros((4, 2)))
    for element in (next(iter(dataset)), next(iter(dataset.batch(2)))):
        with pytest.raises(ValueError, match="read-only"):
            element.numpy()[...] = 1


def test_neighbouring_rows_are_not_copied() -> None:
    with ag.device(ag.list_devices()[0]):  # in host memory
        array = ag.constant(np.arange(12).reshape(6, 2))
        first, second = list(Dataset.from_tensor_slices(array).batch(3))
        assert np.shares_memory(first.numpy(), array.numpy())
        assert np.shares_memory(second.numpy(), array.numpy())


@pytest.mark.parametrize("arguments", [(5,), (2, 5), (5, 0, -2), (0,), (3, 1), (1, 10, 4), (-3, 3)])
def test_range(arguments: tuple[int, ...]) -> None:
    dataset = Dataset.range(*arguments)
    assert values(dataset) == list(range(*arguments))
    assert [x for batch in values(dataset.batch(2)) for x in batch] == list(range(*arguments))
    assert dataset.output_types is ag.int64


def test_a_large_range_stores_no_numbers() -> None:
    assert values(Dataset.range(10**15).skip(10**14).take(2)) == [10**14, 10**14 + 1]


def test_specs() -> None:
    dataset = Dataset.from_tensor_slices({"x": np.zeros((5, 2, 3), np.float16), "y": np.zeros(5, bool)})
    assert dataset.output_types == {"x": ag.float16, "y": ag.bool}
    assert dataset.output_shapes == {"x": (2, 3), "y": ()}
    assert dataset.output_classes == {"x": ag.Tensor, "y": ag.Tensor}
    assert dataset.batch(2).output_shapes["x"].as_list() == [None, 2, 3]
    assert dataset.batch(2, drop_remainder=True).output_shapes["x"].as_list() == [2, 2, 3]
    assert dataset.batch(2).batch(3).output_shapes["y"].as_list() == [None, None]
    assert dataset.shuffle(3).repeat().skip(1).take(4).prefetch(1).output_types == dataset.output_types


def test_specs_after_a_function() -> None:
    pairs = Dataset.from_tensor_slices((np.zeros((5, 3), np.uint8), np.zeros(5, np.int64)))
    mapped = pairs.map(lambda x, y: {"sum": ag.reduce_sum(ag.cast(x, ag.float32)), "both": [x, x]})
    assert mapped.output_types == {"sum": ag.float32, "both": ag.uint8}
    assert mapped.output_shapes == {"sum": (), "both": (2, 3)}
    assert pairs.batch(2).map(lambda x, y: x).output_shapes.as_list() == [None, 3]
    assert pairs.filter(lambda x, y: True).output_shapes == ((3,), ())
    assert Dataset.zip((pairs, {"z": pairs.batch(5)})).output_types == (
        (ag.uint8, ag.int64),
        {"z": (ag.uint8, ag.int64)},
    )


def test_a_spec_changes_no_order() -> None:
    ag.set_random_seed(1)
    first = values(Dataset.range(20).shuffle(5).map(lambda x: x))
    ag.set_random_seed(1)
    dataset = Dataset.range(20).shuffle(5).map(lambda x: x)
    assert dataset.output_types is ag.int64
    assert values(dataset) == first


def test_spec_of_a_map_over_nothing() -> None:
    with says(ValueError, "The dataset has no elements, so there is none to learn the results of a function from."):
        Dataset.range(0).map(lambda x: x).output_types  # noqa: B018


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: Dataset.from_tensor_slices(([1, 2], [3])),
            ValueError,
            "Dimensions 2 and 1 are not compatible: from_tensor_slices cuts all components along their first axis, but "
            "component 0 has shape (2,) and component 1 has shape (1,).",
        ),
        (
            lambda: Dataset.from_tensor_slices(([1, 2], 3)),
            ValueError,
            "from_tensor_slices: component 1 is a scalar, which has no slices; to get one element that holds it, use "
            "from_tensors.",
        ),
        (
            lambda: Dataset.from_tensor_slices(()),
            ValueError,
            "from_tensor_slices: the structure holds no component; give at least one array.",
        ),
        (
            lambda: Dataset.from_tensors({}),
            ValueError,
            "from_tensors: the structure holds no component; give at least one array.",
        ),
        (
            lambda: Dataset.range(),
            TypeError,
            "range takes (stop), (start, stop) or (start, stop, step); got 0 arguments.",
        ),
        (lambda: Dataset.range(1.5), TypeError, "range: each argument must be an integer; got 1.5 of type float."),
        (lambda: Dataset.range(1, 2, 0), ag.errors.InvalidArgumentError, "range: the step must not be zero."),
        (
            lambda: Dataset.range(2**63),
            ag.errors.InvalidArgumentError,
            "range: the arguments must fit int64; got [9223372036854775808].",
        ),
    ],
)
def test_errors(make: Any, kind: type[Exception], text: str) -> None:
    with says(kind, text):
        make()

"""Elements that stages learn dtypes and shapes from: such as they give, and without a trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_core import dtypes, errors, random
from agog_data import Dataset, Iterator
from agog_data.readers import TextLineDataset
from agog_data.transformations.filtering import ignore_errors
from agog_data.transformations.grouping import group_by_window
from agog_data.transformations.sampling import sample_from_datasets
from agog_testing import says

EMPTY = Dataset.range(0).map(lambda x: x)


def inverse(x: Any) -> Any:
    return 12 // int(x)


# Each gives 12, 6, 4 in the end, and something before that which no function may see, or nothing.
PIPELINES: dict[str, Callable[[], Dataset]] = {
    "filter": lambda: Dataset.range(4).filter(lambda x: x > 0).map(inverse),
    "skip": lambda: Dataset.range(4).map(lambda x: x).skip(1).map(inverse),
    "skip rows": lambda: Dataset.range(4).skip(1).map(inverse),
    "ignore_errors": lambda: Dataset.range(4).map(inverse).apply(ignore_errors()),
    "concatenate": lambda: EMPTY.concatenate(Dataset.range(1, 4)).map(inverse),
    "sample_from_datasets": lambda: sample_from_datasets([EMPTY, Dataset.range(1, 4)]).map(inverse),
    "flat_map": lambda: Dataset.range(2).flat_map(lambda x: Dataset.range(1, 1 + 3 * x).map(inverse)),
    "group_by_window": lambda: (
        Dataset.range(4)
        .apply(group_by_window(lambda x: x, lambda key, group: group.filter(lambda x: x > 0), 1))
        .map(inverse)
    ),
    "before flat_map": lambda: (
        Dataset.range(4).filter(lambda x: x > 0).flat_map(lambda x: Dataset.from_tensors(inverse(x)))
    ),
    "unbatch": lambda: Dataset.from_generator(lambda: iter([[], [1, 2, 3]]), dtypes.int64).unbatch().map(inverse),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_dtypes_are_learned_from_elements_that_are_given(name: str) -> None:
    assert PIPELINES[name]().output_types is not None
    assert PIPELINES[name]().output_shapes == []


@pytest.mark.parametrize("name", PIPELINES)
def test_groups_of_such_elements(name: str) -> None:
    groups = PIPELINES[name]().apply(group_by_window(lambda x: 0, lambda key, group: group.batch(2), 2))
    iterator = Iterator(groups)
    assert next(iterator).numpy().tolist() == [12, 6]
    other = Iterator(groups)
    other.load_state_dict(iterator.state_dict())
    assert [x.numpy().tolist() for x in other] == [[4]]


def test_a_header_is_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "numbers.txt"
    path.write_text("number\n# none\n3\n4\n")
    lines = TextLineDataset(path).skip(1).filter(lambda line: not line.numpy().startswith(b"#"))
    numbers = lines.map(lambda line: int(line.numpy()))
    assert numbers.output_types is dtypes.int32
    assert [int(x) for x in numbers.shuffle(1).batch(1)] == [3, 4]


def test_looking_changes_no_order() -> None:
    def build() -> Dataset:
        noisy = Dataset.range(9).shuffle(9).map(lambda x: (x, ag.random_uniform([])))
        return noisy.filter(lambda x, noise: x > 4).skip(1).flat_map(lambda x, noise: Dataset.from_tensors((x, noise)))

    def values(dataset: Dataset) -> list[Any]:
        return [(int(x), float(noise)) for x, noise in dataset]

    try:
        ag.set_random_seed(1)
        quiet = build()
        ag.set_random_seed(1)
        looking = build()
    finally:
        ag.set_random_seed(None)
    for _ in range(3):
        assert looking.output_types == (dtypes.int64, dtypes.float32)
        assert values(looking.map(lambda x, noise: (x, noise))) == values(quiet.map(lambda x, noise: (x, noise)))


@pytest.mark.parametrize("name", PIPELINES)
def test_looking_leaves_the_random_state_alone(name: str) -> None:
    before = random.generator()
    _ = PIPELINES[name]().output_types
    assert random.generator() is before


def test_errors_that_are_only_looked_at_are_not_counted() -> None:
    ignored = ignore_errors()
    dataset = Dataset.range(4).map(inverse).apply(ignored)
    assert dataset.output_types is dtypes.int32
    assert ignored.skipped == 0
    assert len(list(dataset)) == 3
    assert ignored.skipped == 1


@pytest.mark.parametrize(
    "build",
    [
        lambda: Dataset.range(3).filter(lambda x: False),
        lambda: Dataset.range(3).skip(3),
        lambda: EMPTY.concatenate(EMPTY),
        lambda: sample_from_datasets([EMPTY, EMPTY]),
        lambda: Dataset.range(3).flat_map(lambda x: EMPTY),
        lambda: Dataset.from_generator(lambda: iter([[], []]), dtypes.int64).unbatch(),
    ],
)
def test_no_element_at_all(build: Callable[[], Dataset]) -> None:
    dataset = build().map(lambda x: x)
    with says(ValueError, "The dataset has no elements, so there is none to learn the results of a function from."):
        _ = dataset.output_types
    assert list(dataset) == []


def test_an_error_of_the_function_itself_is_told() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="no"):
        _ = Dataset.range(3).filter(lambda x: x > 0).map(fail).output_types


def fail(x: Any) -> Any:
    raise errors.InvalidArgumentError("no")

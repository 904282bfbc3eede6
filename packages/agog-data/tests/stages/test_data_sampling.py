"""Sampling, choosing and resampling: which elements come, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import values

import agog_core as ag
from agog_data import Dataset
from agog_data.transformations.sampling import (
    choose_from_datasets,
    rejection_resample,
    sample_from_datasets,
    shuffle_and_repeat,
)
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError


def endless(count: int) -> list[Dataset]:
    return [Dataset.from_tensors(i).repeat() for i in range(count)]


def chi_squared(found: list[int], shares: list[float]) -> float:
    counts = Counter(found)
    assert set(counts) <= {i for i, share in enumerate(shares) if share}
    expected = [len(found) * share for share in shares]
    return sum((counts[i] - e) ** 2 / e for i, e in enumerate(expected) if e)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weights", [None, [0.2, 0.5, 0.3], [3.0, 0.0, 1.0], np.array([1, 1, 8], np.float32)])
def test_datasets_are_sampled_by_their_weights(weights: Any, seed: int) -> None:
    shares = np.ones(3) if weights is None else np.asarray(weights, np.float64)
    found = values(sample_from_datasets(endless(3), weights, seed=seed).take(4000))
    assert chi_squared(found, (shares / shares.sum()).tolist()) < 13.8  # p = 0.001 for 2 degrees of freedom


def test_weights_may_vary() -> None:
    weights = Dataset.from_tensor_slices([[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]])
    assert values(sample_from_datasets(endless(2), weights.repeat(2))) == [0, 1, 0, 0, 1, 0]
    varying = Dataset.from_tensors([0.25, 0.75]).repeat()
    assert chi_squared(values(sample_from_datasets(endless(2), varying, 4).take(4000)), [0.25, 0.75]) < 10.8
    # Weights without any for the dataset that is left are passed over.
    pair = [Dataset.range(1), Dataset.range(10, 12)]
    weights = Dataset.from_tensor_slices([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert values(sample_from_datasets(pair, weights)) == [0, 10]


def test_sampling_is_without_replacement() -> None:
    parts = [Dataset.range(10 * i, 10 * i + n) for i, n in enumerate((3, 9, 0, 6))]
    found = values(sample_from_datasets(parts, [0.1, 0.2, 0.3, 0.4], seed=2))
    assert sorted(found) == sorted(x for part in parts for x in values(part))
    for part in parts:
        mine = values(part)
        assert [x for x in found if x in mine] == mine


def test_a_dataset_without_weight_is_not_waited_for() -> None:
    assert values(sample_from_datasets([Dataset.range(3), Dataset.range(9)], [1.0, 0.0])) == [0, 1, 2]


def test_epochs_and_iterators_choose_differently() -> None:
    dataset = sample_from_datasets(endless(2), seed=3).take(50)
    first, second = values(dataset), values(dataset)
    assert first != second
    twice = values(sample_from_datasets(endless(2), seed=3).take(50).repeat(2))
    assert twice[:50] == first
    assert twice[50:] != first
    assert twice[50:] != second
    assert values(sample_from_datasets(endless(2), seed=3).take(50)) == first
    assert values(sample_from_datasets(endless(2), seed=4).take(50)) != first


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=20), st.lists(st.integers(0, 6), min_size=3, max_size=3))
def test_chosen_datasets_come_in_turn(choices: list[int], lengths: list[int]) -> None:
    parts = [list(range(100 * i, 100 * i + n)) for i, n in enumerate(lengths)]
    queues, expected = [part.copy() for part in parts], []
    for choice in choices:
        if queues[choice]:
            expected.append(queues[choice].pop(0))
    datasets = [Dataset.range(100 * i, 100 * i + n) for i, n in enumerate(lengths)]
    chosen = choose_from_datasets(datasets, Dataset.from_tensor_slices(np.array(choices, np.int64)))
    assert values(chosen) == expected


def test_mixed_specs() -> None:
    one, two = Dataset.range(3).batch(2), Dataset.range(4).batch(2, drop_remainder=True)
    mixed = choose_from_datasets([two, two, one], Dataset.range(3))
    assert mixed.output_shapes.as_list() == [None]
    assert mixed.output_types == ag.int64
    assert choose_from_datasets([two, two], Dataset.range(2)).output_shapes.as_list() == [2]
    assert values(mixed.map(lambda x: ag.reduce_sum(x))) == [1, 1, 1]
    with says(
        TypeError,
        "sample_from_datasets: the elements of dataset 0 are int64; those of dataset 1 are ('int64', 'int64'). "
        "They must have one structure and the same dtypes.",
    ):
        _ = sample_from_datasets([one, two.map(lambda x: (x, x))]).output_types


def test_sparse_tensors_pass() -> None:
    sparse = Dataset.range(2).map(lambda x: ag.SparseTensor([[0]], [ag.cast(x, ag.float32)], [2]))
    mixed = choose_from_datasets([sparse, sparse], Dataset.range(2).repeat())
    assert mixed.output_classes is ag.SparseTensor
    assert [float(x.values[0]) for x in mixed] == [0, 0, 1, 1]
    with says(
        TypeError,
        "concatenate: the elements of the first dataset are sparse float32; those of the second are float32. "
        "They must have one structure and the same dtypes.",
    ):
        _ = sparse.concatenate(Dataset.from_tensors([1.0])).output_types


def test_errors_of_arguments() -> None:
    pair = endless(2)
    wrong: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (
            lambda: sample_from_datasets(pair, [1.0]),
            ValueError,
            "sample_from_datasets: weights must be a vector of length 2, one for each dataset; got shape (1,).",
        ),
        (
            lambda: sample_from_datasets(pair, ["a", "b"]),
            TypeError,
            "sample_from_datasets: weights must be numbers; got ['a', 'b'].",
        ),
        (
            lambda: sample_from_datasets(pair, [-1.0, 1.0]),
            InvalidArgumentError,
            "sample_from_datasets: weights must be finite and not negative, one of them positive; got [-1.0, 1.0].",
        ),
        (
            lambda: sample_from_datasets(pair, [0.0, 0.0]),
            InvalidArgumentError,
            "sample_from_datasets: weights must be finite and not negative, one of them positive; got [0.0, 0.0].",
        ),
        (
            lambda: sample_from_datasets([]),
            ValueError,
            "sample_from_datasets: at least one dataset is expected; the list is empty.",
        ),
        (
            lambda: sample_from_datasets([1]),
            TypeError,
            "sample_from_datasets: a list of datasets is expected; got 1 of type int.",
        ),  # type: ignore[list-item]
        (
            lambda: sample_from_datasets(pair, seed="x"),
            TypeError,
            "sample_from_datasets: seed must be an integer; got 'x' of type str.",
        ),
        (
            lambda: choose_from_datasets(pair, [0]),  # type: ignore[arg-type]
            TypeError,
            "choose_from_datasets: choice_dataset must be a Dataset; got [0] of type list.",
        ),
        (
            lambda: values(choose_from_datasets(pair, Dataset.range(3))),
            InvalidArgumentError,
            "choose_from_datasets: choice_dataset must hold numbers from 0 to 1, those of the datasets; got 2.",
        ),
        (
            lambda: values(choose_from_datasets(pair, Dataset.from_tensors([0]))),
            TypeError,
            "choose_from_datasets: choice_dataset must hold scalars of dtype int64; "
            "one element is int32 of shape (1,).",
        ),
        (
            lambda: rejection_resample(lambda x: x, [0.5, -0.5]),
            InvalidArgumentError,
            "rejection_resample: target_dist must be a vector of numbers, finite, not negative and not all zero; "
            "got [0.5, -0.5].",
        ),
        (
            lambda: rejection_resample(lambda x: x, [0.5, 0.5], [1.0]),
            InvalidArgumentError,
            "rejection_resample: initial_dist must be a vector of 2 numbers, finite, not negative and not all zero; "
            "got [1.0].",
        ),
        (
            lambda: rejection_resample(lambda x: x, [0.5, 0.5], [1.0, 0.0]),
            InvalidArgumentError,
            "rejection_resample: target_dist asks for class 1, which never occurs by initial_dist.",
        ),
        (
            lambda: Dataset.range(3).apply(rejection_resample(3, [1.0])),  # type: ignore[arg-type]
            TypeError,
            "rejection_resample: a function is expected; got 3 of type int.",
        ),
    ]
    for call, kind, text in wrong:
        with says(kind, text):
            call()


def test_an_error_of_class_func_names_the_element() -> None:
    def class_of(x: Any) -> Any:
        return x

    with says(
        InvalidArgumentError,
        "rejection_resample: class_func must return the number of a class, an integer scalar from 0 to 1; "
        "it returned 2.",
    ) as info:
        values(Dataset.range(5).apply(rejection_resample(class_of, [0.5, 0.5])))
    assert info.value.__notes__ == [
        "This happened in rejection_resample, in the function "
        "test_an_error_of_class_func_names_the_element.<locals>.class_of, at element 2 (the first is 0)."
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("known", [True, False])
def test_classes_get_the_target_distribution(known: bool, seed: int) -> None:
    initial, target = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]
    classes = np.random.default_rng(seed).choice(3, 8000, p=initial)
    dataset = Dataset.from_tensor_slices({"n": np.arange(8000), "class": classes})
    resampled = dataset.apply(
        rejection_resample(lambda element: element["class"], target, initial if known else None, seed=seed)
    )
    found = values(resampled)
    order = [element["n"] for _, element in found]
    assert order == sorted(set(order))  # none comes twice
    assert all(element["class"] == number for number, element in found)
    settled = [number for number, element in found if element["n"] >= (0 if known else 1000)]
    assert chi_squared(settled, target) < 13.8  # p = 0.001 for 2 degrees of freedom
    # One in max(target / initial) = 3.5 elements is kept.
    assert abs(len(found) / 8000 - 1 / 3.5) < 0.03
    assert resampled.output_types == (ag.int32, {"n": ag.int64, "class": ag.int64})


def test_shuffle_and_repeat_is_both() -> None:
    ag.set_random_seed(2)
    one = values(Dataset.range(20).apply(shuffle_and_repeat(7, 3, seed=5)))
    ag.set_random_seed(2)
    assert one == values(Dataset.range(20).shuffle(7, 5).repeat(3))
    assert [sorted(one[i : i + 20]) for i in (0, 20, 40)] == [list(range(20))] * 3


@pytest.mark.parametrize(
    "dataset",
    [
        sample_from_datasets([Dataset.range(3)]),
        choose_from_datasets([Dataset.range(3), Dataset.range(3).repeat()], Dataset.range(2)),
        Dataset.range(3).apply(rejection_resample(lambda x: 0, [1.0])),
    ],
)
def test_random_choices_cannot_be_split(dataset: Dataset) -> None:
    with pytest.raises(InvalidArgumentError, match="split: the elements must have the same numbers each time"):
        dataset.split(train=0.5, test=0.5)

"""Datasets and iterators in consoles and notebooks: what is shown, and that showing changes nothing."""

from __future__ import annotations

import os
from collections import namedtuple
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_data import Dataset
from agog_data.readers import TextLineDataset
from agog_data.transformations.batching import dense_to_sparse_batch

Pair = namedtuple("Pair", ["a", "b"])


class Page(HTMLParser):
    """The rows of a table, and what is written beside it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self._within: list[str] = []
        self.feed(html)
        self.close()
        assert self._within == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._within.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._within.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._within[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        else:
            self.texts.append(data)


def page(shown: Any) -> Page:
    return Page(shown._repr_html_())


def test_one_line() -> None:
    numbers = Dataset.range(10)
    images = Dataset.from_tensor_slices((np.zeros([4, 28, 28, 1], np.float32), np.zeros(4, np.int32)))
    for dataset, shown in (
        (numbers, "shapes: (), types: tf.int64"),
        (images.batch(2), "shapes: ((?, 28, 28, 1), (?,)), types: (tf.float32, tf.int32)"),
        (
            numbers.map(lambda x: {"a": x, "b": ag.ones([3])}),
            "shapes: {'a': (), 'b': (3,)}, types: {'a': tf.int64, 'b': tf.float32}",
        ),
        (numbers.map(lambda x: Pair(x, x)), "shapes: Pair(a=(), b=()), types: Pair(a=tf.int64, b=tf.int64)"),
        (numbers.window(3), "shapes: dataset, types: dataset"),
        (Dataset.from_generator(lambda: [1], ag.int32), "shapes: <unknown>, types: tf.int32"),
    ):
        assert repr(dataset) == f"<Dataset {shown}>"
        assert repr(iter(dataset)) == f"<Iterator {shown}>"
    assert repr(TextLineDataset("poem.txt")) == "<TextLineDataset shapes: (), types: tf.string>"


def fail(x: Any) -> Any:
    raise RuntimeError("a function of the program's")


def test_a_line_for_what_is_not_known() -> None:
    for dataset in (Dataset.range(3).map(fail), Dataset.range(0).map(lambda x: x)):
        assert repr(dataset) == "<Dataset shapes: ?, types: ?>"
        assert repr(iter(dataset)) == "<Iterator shapes: ?, types: ?>"


def test_first_elements() -> None:
    dataset = Dataset.range(5).map(lambda x: {"n": x, "p": Pair(ag.fill([int(x)], 0.5), "<b>")})
    shown = page(dataset)
    assert shown.texts == ["Dataset"]
    assert shown.rows == [
        ["component", "dtype", "shape", "element 0", "element 1", "element 2"],
        ["['n']", "int64", "()", "0", "1", "2"],
        ["['p'].a", "float32", "(0,)", "[]", "[0.5]", "[0.5 0.5]"],
        ["['p'].b", "string", "()", "b'<b>'", "b'<b>'", "b'<b>'"],
    ]


def test_large_elements_are_short() -> None:
    ((_, row), (_, text)) = (page(Dataset.from_tensors(x)).rows for x in (np.arange(10_000), "x" * 10_000))
    assert row == ["", "int64", "(10000,)", "[ 0 1 ... 9998 9999]"]
    assert text == ["", "string", "()", f"b'{55 * 'x'}..."]


def test_sparse_elements_and_datasets() -> None:
    sparse = Dataset.range(2).map(lambda x: ag.fill([2], x)).apply(dense_to_sparse_batch(2, [2]))
    _, row = page(sparse).rows
    assert row == ["", "sparse int64", "(?, 2)", "SparseTensor ..."]
    _, row = page(Dataset.range(2).window(2)).rows
    assert row == ["", "dataset", "dataset", "<Dataset shapes: (), types: tf.int64>"]


def test_what_has_no_elements_or_cannot_give_them() -> None:
    empty = page(Dataset.range(0))
    assert empty.rows == [["component", "dtype", "shape"], ["", "int64", "()"]]
    assert empty.texts == ["Dataset", "The dataset has no elements."]
    broken = page(Dataset.range(3).map(fail))
    assert (broken.rows, broken.texts) == (
        [],
        ["Dataset", "The elements cannot be shown: RuntimeError: a function of the program's"],
    )
    missing = page(TextLineDataset("no/file"))
    assert missing.texts[1:] == [
        "The elements cannot be shown: NotFoundError: TextLineDataset: there is no file 'no/file'."
    ]


def test_an_iterator_keeps_its_place() -> None:
    iterator = iter(Dataset.range(5).map(lambda x: x))
    next(iterator)
    shown = page(iterator)
    assert (shown.rows, shown.texts) == ([["component", "dtype", "shape"], ["", "int64", "()"]], ["Iterator"])
    assert repr(iterator) == "<Iterator shapes: (), types: tf.int64>"
    assert [int(x) for x in iterator] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "stages",
    [
        lambda d: d,
        lambda d: d.map(lambda x: x),
        lambda d: d.map(lambda x: x, 2).prefetch(2),
        lambda d: Dataset.range(1).flat_map(lambda _: d).map(lambda x: x),
        lambda d: Dataset.range(1).interleave(lambda _: d, 1, num_parallel_calls=1),
        lambda d: Dataset.zip((d, Dataset.range(9))).map(lambda x, y: x),
        lambda d: d.filter(lambda x: True).cache(),
    ],
)
def test_what_can_be_read_only_once_is_left_alone(stages: Any) -> None:
    source = iter(range(5))
    dataset = stages(Dataset.from_generator(lambda: source, ag.int64))
    for shown in (dataset, iter(dataset)):
        repr(shown)
        shown._repr_html_()
    assert page(dataset).texts[1:] == ["The elements are not shown, because they may be readable only once."]
    assert [int(x) for x in dataset] == [0, 1, 2, 3, 4]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    dataset = TextLineDataset(str(path)).map(lambda line: line)
    assert repr(dataset) == "<Dataset shapes: ?, types: ?>"
    assert page(dataset).rows == []


def test_the_file_of_a_cache_is_left_to_others(tmp_path: Path) -> None:
    dataset = Dataset.range(5).cache(tmp_path / "cache")
    dataset._repr_html_()
    assert list(tmp_path.iterdir()) == []
    assert [int(x) for x in dataset] == [0, 1, 2, 3, 4]
    assert page(dataset).rows[1] == ["", "int64", "()", "0", "1", "2"]


def test_orders_and_random_numbers_stay() -> None:
    def values(show: bool) -> list[float]:
        ag.set_random_seed(5)
        dataset = Dataset.range(9).shuffle(9).map(lambda x: ag.random_uniform([]) + ag.cast(x, ag.float32))
        found = []
        for _ in range(2):
            if show:
                repr(dataset)
                dataset._repr_html_()
            found += [float(x) for x in dataset]
        return [*found, float(ag.random_uniform([]))]

    assert values(show=True) == values(show=False)

"""Example batches: parsed features from files of serialized examples."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from agog_core.dtypes import string
from agog_core.files import find
from agog_data.arguments import positive
from agog_data.dataset import Dataset
from agog_data.elements import components
from agog_data.examples.parsing import parse_example_dataset
from agog_data.readers.tfrecord import TFRecordDataset
from agog_data.transformations.flattening import parallel_interleave

_FUNCTION = "make_batched_features_dataset"


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[..., Dataset] = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = 1,
    reader_num_threads: Any = 1,
    parser_num_threads: Any = 2,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """A dataset of batches of features, from files of serialized ``tf.train.Example`` messages.

    Args:
        file_pattern: a path with ``*``, ``?`` and ``[...]``, or a list of such.
        batch_size: how many examples are in a batch.
        features: see `parse_example`.
        reader: makes a dataset of one path: its elements are serialized examples, or pairs of a key and such.
        label_key: the feature that is the label; None for none.
        reader_args: what ``reader`` is called with, after the path; None for nothing.
        num_epochs: how many times the examples are repeated; None for no end. Only then the last batch is full.
        shuffle: whether the files and the examples are shuffled.
        shuffle_buffer_size, shuffle_seed: see `Dataset.shuffle`.
        prefetch_buffer_size: how many batches are read ahead.
        reader_num_threads: how many files are read in turns.
        parser_num_threads: how many batches are parsed at the same time.
        sloppy_ordering: whether examples come in the order in which they are ready.
        drop_final_batch: whether a last batch with fewer examples is left out.

    Returns:
        A dataset of dicts of tensors, or, with a label, of pairs of a dict and a tensor.

    Raises:
        ValueError: there is no such file, or ``label_key`` is none of the features.
        TypeError: ``reader`` makes elements that are no strings.

    >>> import tempfile
    >>> from agog_core import int64
    >>> from agog_data.examples.features import FixedLenFeature
    >>> from agog_data.examples.messages import Example
    >>> from agog_data.readers import TFRecordWriter
    >>> path = tempfile.mkdtemp() + "/people.tfrecord"
    >>> with TFRecordWriter(path) as writer:
    ...     for age in (36, 41, 20):
    ...         example = Example()
    ...         example.features.feature["age"].int64_list.value.append(age)
    ...         writer.write(example.SerializeToString())
    >>> features = {"age": FixedLenFeature([], int64)}
    >>> for batch in make_batched_features_dataset(path, 2, features, num_epochs=1, shuffle=False):
    ...     print(batch["age"].numpy())
    [36 41]
    [20]
    """
    if label_key is not None and label_key not in features:
        raise ValueError(f"{_FUNCTION}: label_key must be one of the features {sorted(features)}; got {label_key!r}.")
    patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    files = sorted(find([os.fspath(pattern) for pattern in patterns]))
    if not files:
        raise ValueError(f"{_FUNCTION}: no file matches {file_pattern!r}.")
    paths = Dataset.from_tensor_slices(files)
    if shuffle:
        paths = paths.shuffle(len(files), shuffle_seed)
    turns = positive(_FUNCTION, "reader_num_threads", reader_num_threads)
    dataset = paths.apply(
        parallel_interleave(lambda path: reader(path, *(reader_args or ())), turns, sloppy=sloppy_ordering)
    )
    if dataset.output_types == (string, string):
        dataset = dataset.map(lambda key, serialized: serialized)
    elif dataset.output_types is not string:
        names = [dtype.name for dtype in components(dataset.output_types)]
        raise TypeError(f"{_FUNCTION}: the reader's elements must be strings or pairs of strings; they are {names}.")
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    dataset = dataset.repeat(num_epochs).batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, parser_num_threads))
    if label_key is not None:
        dataset = dataset.map(lambda parsed: (parsed, parsed.pop(label_key)))
    return dataset.prefetch(prefetch_buffer_size)

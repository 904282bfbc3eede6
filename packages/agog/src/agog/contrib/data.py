"""``tf.contrib.data``: transformations for ``dataset.apply(...)``, most of which ``tf.data.experimental`` has too."""

from agog_compat.advice import taught as _taught
from agog_data.examples.parsing import parse_example_dataset
from agog_data.readers.csv_files import CsvDataset
from agog_data.readers.csv_tables import make_csv_dataset
from agog_data.readers.example_batches import make_batched_features_dataset
from agog_data.readers.record_writer import DatasetWriter as TFRecordWriter
from agog_data.readers.sqlite import SqlDataset
from agog_data.transformations.batching import (
    batch_and_drop_remainder,
    dense_to_sparse_batch,
    map_and_batch,
    padded_batch_and_drop_remainder,
)
from agog_data.transformations.counting import Counter, RandomDataset
from agog_data.transformations.flattening import (
    enumerate_dataset,
    parallel_interleave,
    sloppy_interleave,
    unbatch,
)
from agog_data.transformations.grouping import Reducer, bucket_by_sequence_length, group_by_reducer, group_by_window
from agog_data.transformations.limiting import assert_element_shape, get_single_element, ignore_errors, unique
from agog_data.transformations.optional import Optional, get_next_as_optional, make_saveable_from_iterator
from agog_data.transformations.placing import copy_to_device, prefetch_to_device
from agog_data.transformations.reducing import reduce_dataset
from agog_data.transformations.sampling import (
    choose_from_datasets,
    rejection_resample,
    sample_from_datasets,
    shuffle_and_repeat,
)
from agog_data.transformations.scanning import scan, sliding_window_batch

__all__ = [
    "Counter",
    "CsvDataset",
    "Optional",
    "RandomDataset",
    "Reducer",
    "SqlDataset",
    "TFRecordWriter",
    "assert_element_shape",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "reduce_dataset",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sliding_window_batch",
    "sloppy_interleave",
    "unbatch",
    "unique",
]

__getattr__ = _taught(__name__)

"""``tf.contrib.data``: transformations for ``dataset.apply(...)``, most of which ``tf.data.experimental`` has too."""

from agog_compat.advice import face as _face
from agog_data.examples.parsing import parse_example_dataset as parse_example_dataset
from agog_data.readers.csv_files import CsvDataset as CsvDataset
from agog_data.readers.csv_tables import make_csv_dataset as make_csv_dataset
from agog_data.readers.example_batches import make_batched_features_dataset as make_batched_features_dataset
from agog_data.readers.record_writer import DatasetWriter as TFRecordWriter
from agog_data.readers.sqlite import SqlDataset as SqlDataset
from agog_data.transformations.batching import batch_and_drop_remainder as batch_and_drop_remainder
from agog_data.transformations.batching import dense_to_sparse_batch as dense_to_sparse_batch
from agog_data.transformations.batching import map_and_batch as map_and_batch
from agog_data.transformations.batching import padded_batch_and_drop_remainder as padded_batch_and_drop_remainder
from agog_data.transformations.counting import Counter as Counter
from agog_data.transformations.counting import RandomDataset as RandomDataset
from agog_data.transformations.filtering import assert_element_shape as assert_element_shape
from agog_data.transformations.filtering import get_single_element as get_single_element
from agog_data.transformations.filtering import ignore_errors as ignore_errors
from agog_data.transformations.filtering import unique as unique
from agog_data.transformations.flattening import enumerate_dataset as enumerate_dataset
from agog_data.transformations.flattening import parallel_interleave as parallel_interleave
from agog_data.transformations.flattening import sloppy_interleave as sloppy_interleave
from agog_data.transformations.flattening import unbatch as unbatch
from agog_data.transformations.grouping import Reducer as Reducer
from agog_data.transformations.grouping import bucket_by_sequence_length as bucket_by_sequence_length
from agog_data.transformations.grouping import group_by_reducer as group_by_reducer
from agog_data.transformations.grouping import group_by_window as group_by_window
from agog_data.transformations.grouping import reduce_dataset as reduce_dataset
from agog_data.transformations.optional import Optional as Optional
from agog_data.transformations.optional import get_next_as_optional as get_next_as_optional
from agog_data.transformations.optional import make_saveable_from_iterator as make_saveable_from_iterator
from agog_data.transformations.placement import copy_to_device as copy_to_device
from agog_data.transformations.placement import prefetch_to_device as prefetch_to_device
from agog_data.transformations.sampling import choose_from_datasets as choose_from_datasets
from agog_data.transformations.sampling import rejection_resample as rejection_resample
from agog_data.transformations.sampling import sample_from_datasets as sample_from_datasets
from agog_data.transformations.sampling import shuffle_and_repeat as shuffle_and_repeat
from agog_data.transformations.scanning import scan as scan
from agog_data.transformations.scanning import sliding_window_batch as sliding_window_batch

_face(globals())

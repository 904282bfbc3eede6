"""``tf.contrib.data``: transformations for ``dataset.apply(...)``, most of which ``tf.data.experimental`` has too."""

from agog_data.examples.parsing import parse_example_dataset
from agog_data.readers.record_writer import DatasetWriter as TFRecordWriter
from agog_data.transformations.flattening import enumerate_dataset

__all__ = ["TFRecordWriter", "enumerate_dataset", "parse_example_dataset"]

"""Datasets of what files hold: each reads as it goes, and continues at the exact element."""

from agog_data.readers.arrays import NumpyDataset
from agog_data.readers.record_writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter
from agog_data.readers.tfrecord import TFRecordDataset, tf_record_iterator

__all__ = [
    "NumpyDataset",
    "TFRecordCompressionType",
    "TFRecordDataset",
    "TFRecordOptions",
    "TFRecordWriter",
    "tf_record_iterator",
]

"""Datasets of what files hold: each reads as it goes, and continues at the exact element."""

from agog_data.readers.arrays import NumpyDataset
from agog_data.readers.folder import ImageFolder
from agog_data.readers.record_writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter
from agog_data.readers.tfrecord import TFRecordDataset, tf_record_iterator
from agog_data.readers.webdataset import WebDataset

__all__ = [
    "ImageFolder",
    "NumpyDataset",
    "TFRecordCompressionType",
    "TFRecordDataset",
    "TFRecordOptions",
    "TFRecordWriter",
    "WebDataset",
    "tf_record_iterator",
]

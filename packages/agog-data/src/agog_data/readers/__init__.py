"""Readers: datasets of files. Each reads as it goes, and continues at the exact element."""

from agog_data.readers.arrays import NumpyDataset
from agog_data.readers.arrow import ArrowDataset
from agog_data.readers.csv_fields import decode_csv
from agog_data.readers.csv_files import CsvDataset
from agog_data.readers.csv_tables import make_csv_dataset
from agog_data.readers.example_batches import make_batched_features_dataset
from agog_data.readers.fixed_length import FixedLengthRecordDataset
from agog_data.readers.folder import ImageFolder
from agog_data.readers.huggingface import from_huggingface
from agog_data.readers.record_writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter
from agog_data.readers.sqlite import SqlDataset
from agog_data.readers.text import TextLineDataset
from agog_data.readers.tfrecord import TFRecordDataset, tf_record_iterator
from agog_data.readers.webdataset import WebDataset

__all__ = [
    "ArrowDataset",
    "CsvDataset",
    "FixedLengthRecordDataset",
    "ImageFolder",
    "NumpyDataset",
    "SqlDataset",
    "TFRecordCompressionType",
    "TFRecordDataset",
    "TFRecordOptions",
    "TFRecordWriter",
    "TextLineDataset",
    "WebDataset",
    "decode_csv",
    "from_huggingface",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "tf_record_iterator",
]

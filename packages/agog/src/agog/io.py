"""``tf.io``: files, and bytes as tensors."""

from agog_core import decode_base64, decode_raw, encode_base64, matching_files, read_file, write_file
from agog_data.readers.record_writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter
from agog_data.readers.tfrecord import tf_record_iterator

__all__ = [
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "decode_base64",
    "decode_raw",
    "encode_base64",
    "matching_files",
    "read_file",
    "tf_record_iterator",
    "write_file",
]

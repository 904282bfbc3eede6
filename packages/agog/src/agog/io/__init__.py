"""``tf.io``: files, and bytes as tensors."""

from agog.io import gfile
from agog_compat.advice import taught as _taught
from agog_core import decode_base64, decode_raw, encode_base64, matching_files, read_file, write_file
from agog_data.examples.features import FixedLenFeature, FixedLenSequenceFeature, SparseFeature, VarLenFeature
from agog_data.examples.parsing import parse_example, parse_single_example
from agog_data.examples.sequences import parse_single_sequence_example
from agog_data.images import decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, encode_jpeg, encode_png
from agog_data.readers.csv_fields import decode_csv
from agog_data.readers.record_writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter
from agog_data.readers.tfrecord import tf_record_iterator

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "SparseFeature",
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_base64",
    "decode_bmp",
    "decode_csv",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_raw",
    "encode_base64",
    "encode_jpeg",
    "encode_png",
    "gfile",
    "matching_files",
    "parse_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "read_file",
    "tf_record_iterator",
    "write_file",
]

__getattr__ = _taught(__name__)

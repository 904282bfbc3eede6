"""``tf.io``: files, and bytes as tensors."""

from agog.io import gfile as gfile
from agog_compat.advice import face as _face
from agog_core import decode_base64 as decode_base64
from agog_core import decode_raw as decode_raw
from agog_core import encode_base64 as encode_base64
from agog_core.ops.strings.files import *
from agog_data.examples.features import FixedLenFeature as FixedLenFeature
from agog_data.examples.features import FixedLenSequenceFeature as FixedLenSequenceFeature
from agog_data.examples.features import SparseFeature as SparseFeature
from agog_data.examples.features import VarLenFeature as VarLenFeature
from agog_data.examples.parsing import parse_example as parse_example
from agog_data.examples.parsing import parse_single_example as parse_single_example
from agog_data.examples.sequences import parse_single_sequence_example as parse_single_sequence_example
from agog_data.images import decode_bmp as decode_bmp
from agog_data.images import decode_gif as decode_gif
from agog_data.images import decode_image as decode_image
from agog_data.images import decode_jpeg as decode_jpeg
from agog_data.images import decode_png as decode_png
from agog_data.images import encode_jpeg as encode_jpeg
from agog_data.images import encode_png as encode_png
from agog_data.readers.csv_fields import decode_csv as decode_csv
from agog_data.readers.record_writer import TFRecordCompressionType as TFRecordCompressionType
from agog_data.readers.record_writer import TFRecordOptions as TFRecordOptions
from agog_data.readers.record_writer import TFRecordWriter as TFRecordWriter
from agog_data.readers.tfrecord import tf_record_iterator as tf_record_iterator

_face(globals(), "gfile")

"""``tf.python_io``: TFRecord files without a dataset."""

from agog_compat.advice import face as _face
from agog_data.readers.record_writer import TFRecordCompressionType as TFRecordCompressionType
from agog_data.readers.record_writer import TFRecordOptions as TFRecordOptions
from agog_data.readers.record_writer import TFRecordWriter as TFRecordWriter
from agog_data.readers.tfrecord import tf_record_iterator as tf_record_iterator

_face(globals())

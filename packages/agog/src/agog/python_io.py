"""``tf.python_io``: TFRecord files without a dataset."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_data.readers.record_writer import TFRecordCompressionType as TFRecordCompressionType
from agog_data.readers.record_writer import TFRecordOptions as TFRecordOptions
from agog_data.readers.record_writer import TFRecordWriter as TFRecordWriter
from agog_data.readers.tfrecord import tf_record_iterator as tf_record_iterator

_export(globals())

__getattr__ = _taught(__name__)

"""``tf.python_io``: TFRecord files without a dataset."""

from agog_compat.advice import taught as _taught
from agog_data.readers.record_writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter
from agog_data.readers.tfrecord import tf_record_iterator

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]

__getattr__ = _taught(__name__)

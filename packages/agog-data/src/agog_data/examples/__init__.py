"""Examples: ``tf.train.Example``, records of named features in TFRecord files, and their parsers."""

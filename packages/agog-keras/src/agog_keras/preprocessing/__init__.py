"""Preprocessing: ``tf.keras.preprocessing``, preprocessing of data on the host."""

"""Preprocessing: what programs do with data on the host before they train, as ``tf.keras.preprocessing``."""

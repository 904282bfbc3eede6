"""Transformations for ``dataset.apply(...)``, by family: ``tf.contrib.data`` and ``tf.data.experimental``."""

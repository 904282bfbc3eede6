"""Internals: modules of ``tensorflow.python`` that programs import past the public names, under their names there."""

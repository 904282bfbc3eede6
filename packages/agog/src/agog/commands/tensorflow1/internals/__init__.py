"""Internals: private modules of ``tensorflow.python`` that programs import."""

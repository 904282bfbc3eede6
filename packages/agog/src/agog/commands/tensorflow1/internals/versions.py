"""Versions: the TensorFlow version that programs of TensorFlow 1 see."""

from __future__ import annotations

__all__ = ["COMPILER_VERSION", "GIT_VERSION", "GRAPH_DEF_VERSION", "KERAS_VERSION", "VERSION", "__version__"]

__version__ = VERSION = "1.12.0"
KERAS_VERSION = "2.1.6-tf"
GIT_VERSION = "v1.12.0-agog"
COMPILER_VERSION = ""
GRAPH_DEF_VERSION = 26

"""``tf.test``: what tests of programs with tensors need."""

from unittest import main

from agog_core.execution import is_gpu_available
from agog_core.test_case import TestCase

__all__ = ["TestCase", "is_gpu_available", "main"]

"""``tf.test``: what tests of programs with tensors need."""

from unittest import main

from agog_compat.advice import taught as _taught
from agog_compat.execution import is_gpu_available
from agog_compat.test_case import TestCase

__all__ = ["TestCase", "is_gpu_available", "main"]

__getattr__ = _taught(__name__)

"""``tf.test``: what tests of programs with tensors need."""

from unittest import mock

from agog_compat.advice import taught as _taught
from agog_compat.testing.benchmark import *
from agog_compat.testing.gradient_check import *
from agog_compat.testing.main import *
from agog_compat.testing.test_case import *
from agog_core.exports import export as _export

_export(globals(), "mock")
__getattr__ = _taught(__name__)

"""``tf.test``: what tests of programs with tensors need."""

from unittest import mock

from agog_compat.advice import face as _face
from agog_compat.testing.benchmark import *
from agog_compat.testing.gradient_check import *
from agog_compat.testing.main import *
from agog_compat.testing.test_case import *

_face(globals(), "mock")

"""Lets these tests import the values in the files of agog-checkpoint's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "packages/agog-checkpoint/tests"))

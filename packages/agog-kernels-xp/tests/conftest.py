"""Lets the tests of this member import its library whose arrays nobody can write."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "standard"))

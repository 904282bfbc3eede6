"""Lets the tests of this member import its table of pipelines."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

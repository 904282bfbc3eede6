"""Lets the tests of this member import its forms of convolutions."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

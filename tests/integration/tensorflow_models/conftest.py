"""Lets the tests of this folder import its networks, which `write_models` imports where agog is not installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

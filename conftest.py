"""Conftest: what holds for all tests."""

import os

# Tests ask what compiled functions do; those of what runs before that say so themselves.
os.environ.setdefault("AGOG_COMPILE", "1")

"""Programs: random programs in Python source, run traced and eagerly, and compared bit by bit."""

from agog_testing.programs.checking import check_program, difference_of
from agog_testing.programs.writing import source_of

__all__ = ["check_program", "difference_of", "source_of"]

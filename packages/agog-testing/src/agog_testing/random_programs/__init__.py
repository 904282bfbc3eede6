"""Random programs: Python source that is run traced and eagerly, and compared bit by bit."""

from agog_testing.random_programs.comparison import check_program, difference_of
from agog_testing.random_programs.generator import source_of

__all__ = ["check_program", "difference_of", "source_of"]

"""The matrix: suites of tests and the conformance kit on every backend that is installed, to the end, in one report.

``agog-conformance --matrix FOLDER`` runs it.
"""

from agog_testing.matrix.runs import Plan, run

__all__ = ["Plan", "run"]

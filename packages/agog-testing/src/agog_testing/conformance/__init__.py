"""The conformance kit: every kernel of a plugin, for every dtype of the kernel, in every check.

``agog-conformance PLUGIN``, or ``python -m agog_testing.conformance PLUGIN``, runs it, each op in a process that may
crash or hang. Plugin authors may run the same tests in their own suite, in its process:

>>> from agog_testing.conformance import collect
>>> case = next(iter(collect("cpu-numpy", ops=["square"], dtypes=["float32"])))
>>> case.id, case.run()
('square/float32/value', Outcome(kind='passed', text='', ulp=0.0))
"""

from agog_testing.conformance.cases import Case, ConformanceError, Outcome
from agog_testing.conformance.collection import DEFAULT_SEED, collect, not_covered
from agog_testing.conformance.command import main

__all__ = ["DEFAULT_SEED", "Case", "ConformanceError", "Outcome", "collect", "main", "not_covered"]

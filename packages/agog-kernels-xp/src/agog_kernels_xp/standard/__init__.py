"""Standard: an adapter of NumPy's interface to the Python array API standard.

The kernels of this package speak NumPy: methods of arrays, results written to ``out``, indices of any kind, functions
that reduce. `namespace.NumPyNamespace` says the same in the standard's few words. The library's basic slices have to
be views. Speed is not the point: a device is brought up with it, and gets kernels of its own for what has to be fast.
"""

from agog_kernels_xp.standard.missing import MISSING

__all__ = ["MISSING"]

"""Standard: NumPy's face on an array library that has the Python array API standard's interface, and no more than that.

The kernels of this package speak NumPy: methods of arrays, results written to ``out``, indices of any kind, functions
that reduce. `face.NumPyFace` says the same in the standard's few words. The library's basic slices have to be views.
Speed is not the point: a device is brought up with it, and gets kernels of its own for what has to be fast.
"""

from agog_kernels_xp.standard.missing import MISSING

__all__ = ["MISSING"]

"""The executor of traced functions on the device "cpu": it compiles a graph to one flat function of NumPy calls.

Its stages are rooms: `lowering` takes kernels apart into steps of a `program`, `grouping` hands groups of these to
compilers, `planning` chooses where each value lies, and `emission` writes the function.
"""

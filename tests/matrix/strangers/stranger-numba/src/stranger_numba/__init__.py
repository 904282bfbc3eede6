"""Adam's step in one pass over memory, compiled by numba."""

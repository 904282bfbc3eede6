"""Traced functions on NumPy: their kernels as steps, the memory of these planned, and one flat function of them all."""

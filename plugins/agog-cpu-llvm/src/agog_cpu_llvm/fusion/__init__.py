"""Fusion: the compiler of elementwise loops and reductions, which computes several primitives in one pass."""

"""Lowering: from a graph of ops to a program of NumPy's functions."""

"""Grouping: steps that compilers make one function of."""

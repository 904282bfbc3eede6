"""Grouping."""
def group(steps, wanted, compiler): return steps

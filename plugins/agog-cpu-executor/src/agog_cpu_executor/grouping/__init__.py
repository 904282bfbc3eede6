"""Grouping: groups of steps, which compilers make functions of."""

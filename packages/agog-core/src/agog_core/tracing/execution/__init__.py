"""Execution: what runs a graph, and the loops and branches in it."""

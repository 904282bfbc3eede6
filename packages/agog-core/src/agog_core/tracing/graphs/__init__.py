"""Graphs: what a function did, op by op, and what makes it smaller."""

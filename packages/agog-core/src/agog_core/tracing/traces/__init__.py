"""Traces: a call that is recorded, and what later calls run in its place."""

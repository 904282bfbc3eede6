"""Observers: callbacks, the profiler, and other observers of calls."""

"""Benchmarks: the same small programs in agog and in its peers, timed in turn."""

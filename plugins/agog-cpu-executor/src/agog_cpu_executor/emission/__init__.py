"""Emission: the source of one Python function for a planned program."""

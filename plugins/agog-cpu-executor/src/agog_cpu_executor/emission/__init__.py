"""Emission: a planned program as the text of one function of Python."""

"""Devices: which there are, the scopes that choose one, their memory, and a table of kernels for each dtype."""

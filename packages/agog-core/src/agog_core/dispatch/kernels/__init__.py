"""Kernels: which one runs an op on a device, how it is made ready, and what it is checked and observed by."""

"""The device "cpu" and its reference kernels, on NumPy."""

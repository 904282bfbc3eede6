"""CUDA by CuPy: the device "gpu". Importing this package imports no CuPy, and needs no GPU."""

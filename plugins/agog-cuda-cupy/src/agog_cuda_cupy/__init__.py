"""The device "gpu", on CuPy. Importing this package imports no CuPy, and needs no GPU."""

"""CUDA: our own kernels in CUDA C, and the functions that launch them.

A function takes the `Modules` that compile and launch, then what its op's kernel takes, and returns NotImplemented for
what its kernel does not serve.
"""

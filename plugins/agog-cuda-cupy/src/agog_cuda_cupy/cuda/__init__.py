"""CUDA: our own kernels in CUDA C, and their launchers.

A function takes the `Modules` that compile and launch, then what its op's kernel takes, and returns NotImplemented for
what its kernel does not serve. It bears the name of the op, and computes what the function of that name in
agog_kernels_xp computes; `agog_cuda_cupy.launchers.FAMILIES` says for which dtypes and calls the device calls it.
"""

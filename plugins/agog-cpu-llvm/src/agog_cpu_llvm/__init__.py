"""Compiled code for the device "cpu", by LLVM.

`fusion` compiles parts of traced functions, and large eager ops, each for its shapes. `kernels` are families of ops in
code that takes all sizes as arguments: written with `tiles`, run by the `team` of threads.
"""

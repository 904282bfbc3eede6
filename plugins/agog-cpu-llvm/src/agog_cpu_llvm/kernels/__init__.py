"""Kernels: ops in compiled code, a file for each family."""

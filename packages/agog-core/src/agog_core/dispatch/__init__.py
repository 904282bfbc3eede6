"""Dispatch: ops, and the rooms that decide which kernel runs one: plugins, devices, kernels, and reports on them."""

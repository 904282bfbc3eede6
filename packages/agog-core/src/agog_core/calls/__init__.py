"""Calls: the path of a call, from tensors to a kernel and back."""

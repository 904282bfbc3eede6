"""Tensors: values on devices, conversions and copies."""

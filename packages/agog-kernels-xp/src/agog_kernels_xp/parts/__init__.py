"""Parts: shared pieces of kernels."""

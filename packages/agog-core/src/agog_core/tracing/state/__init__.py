"""State: what stands for tensors and variables while a function is traced, and what it has written."""

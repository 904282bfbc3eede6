"""Reports: what is said of ops, kernels and plugins: explanations, the inventory, and the facts of ``agog doctor``."""

"""The device type "jax": JAX's arrays on the CPU, which nobody can write."""

"""The device type "torch": PyTorch's tensors on the CPU, by the array API standard as array-api-compat has it."""

"""oneDNN 3.2 by its C API: float32 convolutions, max pooling and products of matrices for the device "cpu"."""

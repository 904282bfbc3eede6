"""A compiler of fused native loops for the device "cpu", by LLVM."""

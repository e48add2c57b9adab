"""Bit-plane kernels for CUDA, twins of those under `cpu`. Nothing here is imported for the CPU."""

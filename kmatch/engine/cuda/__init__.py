"""Bit-plane kernels for CUDA, twins of the kernels under `cpu`. Nothing here is imported for the
CPU."""

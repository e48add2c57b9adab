"""Bit-plane kernels for the CPU; every file has a twin of the same name under `cuda`."""

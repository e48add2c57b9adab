"""Bit-plane kernels for the CPU; those that scan text have twins of the same name under `cuda`."""

"""Bit-plane kernels for the CPU; kernels that scan text have twins of the same name under
`cuda`."""

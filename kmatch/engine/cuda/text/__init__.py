"""Planes of text on their way to the GPU and to its shared memory."""

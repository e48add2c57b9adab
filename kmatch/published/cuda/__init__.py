"""Published algorithms on CUDA devices."""

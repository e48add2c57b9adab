"""The bit planes: 64 text positions to a word, on the CPU and on CUDA devices."""

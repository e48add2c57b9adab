"""Benchmarks of all algorithms on the same data: data makers, timing, tables."""

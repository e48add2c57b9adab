"""Benchmarks of all algorithms on the same data."""

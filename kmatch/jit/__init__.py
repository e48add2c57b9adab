"""Compiling: host code names kernels by an `entry`, and `folders` keep compiled kernels."""

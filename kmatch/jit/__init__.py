"""Compiling: host code names kernels by an `entry`; what is compiled is kept in `folders`."""

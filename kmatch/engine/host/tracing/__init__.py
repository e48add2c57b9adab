"""Tracebacks of hits: the other end, and the columns of the alignment."""

"""Vectors of lanes: logic, bit-sliced counters, and hit codes written out."""

"""Rehearsal: every search runs once on a tiny genome, so that all kernels get compiled."""

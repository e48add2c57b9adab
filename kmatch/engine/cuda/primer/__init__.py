"""k-difference primers."""

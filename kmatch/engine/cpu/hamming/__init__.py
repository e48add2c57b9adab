"""k mismatches."""

"""k differences."""

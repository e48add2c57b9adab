"""Letters to striped bit planes."""

"""Applications of searches: products of primers, primers, assays and guides."""

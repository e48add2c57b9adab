"""What uses searches: products of primers, primers, assays and guides."""

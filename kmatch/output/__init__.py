"""Hit tables: BED, TSV, and files that are whole or absent."""

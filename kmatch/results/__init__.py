"""Hits and primers as columns, and how they are written: BED, TSV, summaries."""

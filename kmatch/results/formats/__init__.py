"""Formats of hits besides BED and TSV: SAM, GFF3, and lines for eyes."""

"""Genome and pattern files: opened, told apart by content, and parsed by Biopython."""

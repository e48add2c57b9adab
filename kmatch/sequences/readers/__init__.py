"""Genome and pattern files: opened, recognised by their content, and parsed by Biopython."""

"""Patterns and pairs of primers as users have them: FASTA, text and tables."""

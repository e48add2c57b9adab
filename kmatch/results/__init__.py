"""Hits, primers and products as columns, and how they are written."""

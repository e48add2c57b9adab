"""Primers: the starts in a target, and the background as columns."""

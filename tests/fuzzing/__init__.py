"""Searches and inputs drawn by Hypothesis, for as long as one likes; see scripts/fuzz."""

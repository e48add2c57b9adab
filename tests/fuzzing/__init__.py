"""Searches and inputs made up at random, checked for as long as one likes; see scripts/fuzz."""

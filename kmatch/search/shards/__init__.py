"""Shards: ranges of a genome that are searched apart, and how what they find becomes whole."""

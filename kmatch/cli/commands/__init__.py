"""A small file a command."""

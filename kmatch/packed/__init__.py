"""The packed genome."""

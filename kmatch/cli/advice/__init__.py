"""What to type in place of what a command cannot use."""

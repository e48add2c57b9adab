"""What a user sees: messages, progress, and the standard streams."""

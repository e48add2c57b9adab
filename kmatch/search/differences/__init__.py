"""What searches for k differences share: ends, plateaus, tracebacks and their order."""

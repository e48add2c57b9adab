"""What is searched: chunks, each scanned once, their hit codes, and how much there is."""

"""The command line, which parses and prints, and computes nothing."""

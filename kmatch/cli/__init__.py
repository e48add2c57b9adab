"""The command line: a small file a command. It parses and prints; it computes nothing."""

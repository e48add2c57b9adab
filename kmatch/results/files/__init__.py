"""Where results go: streams and files that are whole or absent."""

"""Pictures of hits and primers, drawn by Matplotlib."""

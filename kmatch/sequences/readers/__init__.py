"""Input files: opened, recognised by their content, and read ahead."""

"""Work on the CPU for every engine: reading hits back, tracing them, sharing work out."""

"""Published algorithms on the CPU."""

"""The GPU itself: its driver, its memory and the scans under way on it."""

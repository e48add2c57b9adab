"""From files to letters: reading, the alphabet, patterns and the packed genome."""

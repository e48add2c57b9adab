"""From files to letters: readers, the alphabet, records, patterns and chunks."""

"""Letters of a background as `extend_primers` takes them: 0 to 3 for A, C, G and T, and these."""

UNKNOWN = 4  # a letter that matches nothing
FRESH = 5  # before the first letter of a record: alignments begin anew

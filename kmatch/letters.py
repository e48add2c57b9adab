"""Letters of other alphabets."""

PROTEIN_LETTERS = "EFIJLOPQZ"  # letters of amino acids that are no IUPAC code of a nucleotide

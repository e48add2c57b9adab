"""Letters of other alphabets."""

PROTEIN_LETTERS = "EFIJLOPQZ"  # letters that amino acids have and nucleotides have not

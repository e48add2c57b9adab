"""Hits that observed haplotypes make: alleles of a VCF, windows of their letters, and back."""

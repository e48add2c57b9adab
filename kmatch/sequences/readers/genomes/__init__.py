"""Genomes as users have them: FASTA, FASTQ, 2bit and GenBank."""

#!/usr/bin/env bash
# Nanopore reads by barcode, which are cut off. A barcode has up to 4 differences and is at least two
# nearer than any other; it stands in the first 150 letters of a read, or its reverse complement in
# the last ones. With a file of your own nothing else changes: compressed ones are as good.
set -euo pipefail
data=$(dirname "$(dirname "$0")")/data

kmatch demux "$data/barcoded_reads.fq" "$data/barcodes.txt" -k 4 --edit --margin 2 --within 150 \
    --split by_barcode --trim -o barcodes.tsv --summary counts.tsv --quiet
cut -f 1-6 barcodes.tsv
cat counts.tsv
ls by_barcode
head -n 4 by_barcode/bc02.fq

# What holds the sequencing adapter is left out before the reads go on.
kmatch filter "$data/phix_reads.fq" -p AGATCGGAAGAGC -k 1 --invert -o clean.fq --others adapters.fq
grep -c '^+$' clean.fq adapters.fq

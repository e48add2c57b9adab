#!/usr/bin/env bash
# The products of pairs of primers in a genome: in_silico_pcr.sh [FOLDER]
#
# At most two mismatches a primer, of which none in the last five letters.
set -euo pipefail
here=$(dirname "$0") out=${1:-.}

kmatch pcr "$here/data/lambda_phage.fa.gz" "$here/lambda_primers.txt" -k 2 --exact-3p 5 \
    --sequence -o "$out/products.tsv"
cut -f 1-6 "$out/products.tsv"

# All that a multiplex of these primers makes unasked, an own product or not.
kmatch pcr "$here/data/lambda_phage.fa.gz" "$here/lambda_primers.txt" -k 2 --exact-3p 5 \
    --pairs any --product 50-40000 -o "$out/multiplex.bed"
echo "$(wc -l < "$out/multiplex.bed") products of any two primers"

#!/usr/bin/env bash
# The products of pairs of primers in a genome: at most two mismatches a primer, of which none in the
# last five letters.
set -euo pipefail
data=$(dirname "$(dirname "$0")")/data
search=(kmatch pcr "$data/lambda_phage.fa.gz" "$data/lambda_primers.txt" -k 2 --exact-3p 5)

# --sequence adds the letters of each product.
"${search[@]}" --sequence -o products.tsv
cut -f 2-6,10,16 products.tsv

# All that a multiplex of these primers makes, wanted or not.
"${search[@]}" --pairs any --product 50-40000

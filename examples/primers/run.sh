#!/usr/bin/env bash
# Pairs of primers for phage ΦX174 that leave phage lambda and the human mitochondrion alone.
set -euo pipefail
here=$(dirname "$0") data=$(dirname "$(dirname "$0")")/data
target=$data/phix174.fa.gz others=("$data/lambda_phage.fa.gz" "$data/human_mito_rcrs.fa.gz")

# Stretches in which each primer of 23 letters or more has six differences from everything in the
# others. The background is one file, and may hold any number of records.
cat "${others[@]}" > background.fa.gz
kmatch primer "$target" background.fa.gz -k 6 --both-strands --max-length 23 \
    --regions-out regions.bed -o primers.tsv

# Pairs inside them, chosen by Primer3.
python3 "$here/design.py" "$target" regions.bed > pairs.txt
cat pairs.txt

# The proof: products, and the differences of the closest sites where there is none.
kmatch assay pairs.txt "$target" "${others[@]}" -k 3 | cut -f 1-4,8-10

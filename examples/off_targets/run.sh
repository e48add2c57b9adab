#!/usr/bin/env bash
# Off-targets of guides of Cas9 beside NGG or NAG: up to four mismatches, one bulge of the RNA (a
# letter of the guide skipped, --max-insertions) and one of the DNA (a letter of the genome skipped).
# A place that several alignments reach is a site once, with the best of them.
set -euo pipefail
data=$(dirname "$(dirname "$0")")/data

kmatch edit "$data/human_mito_rcrs.fa.gz" "$data/mito_guides.txt" -k 5 --pam NGG,NAG \
    --max-mismatches 4 --max-insertions 1 --max-deletions 1 --report sites --score cfd \
    --columns pattern,start,strand,distance,cigar,match,cfd -o sites.tsv --summary guides.tsv

# How many sites each guide has by its distance, and how specific that leaves it.
cat guides.tsv

# All sites, those first that Cas9 is likeliest to cut.
head -n 1 sites.tsv
tail -n +2 sites.tsv | sort -t $'\t' -k 7,7gr -k 2,2n

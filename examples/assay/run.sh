#!/usr/bin/env bash
# Which of several genomes pairs of primers amplify, and where their letters differ. ASSAYS may have
# a probe in a fourth column, and --targets names the genomes that are meant to be found.
set -euo pipefail
data=$(dirname "$(dirname "$0")")/data

echo "$data/lambda_phage.fa.gz" > targets.txt
kmatch assay "$data/lambda_primers.txt" "$data"/*.fa.gz -k 3 --targets targets.txt \
    --matrix matrix.tsv --positions positions.tsv -o assays.tsv

# A row an assay and genome; where nothing amplifies, why, and the differences of the closest sites.
cut -f 1-4,8-10 assays.tsv

# What the genomes have at the letter in which the one that is amplified differs from a primer.
awk -F '\t' 'NR == 1 || $1 == "cI_R" && $2 == 7' positions.tsv

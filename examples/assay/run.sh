#!/usr/bin/env bash
# Which of several genomes pairs of primers amplify, and where their letters differ. ASSAYS may have
# a probe in a fourth column, and --targets names the genomes that are meant to be found.
set -euo pipefail
data=$(dirname "$(dirname "$0")")/data

echo "$data/lambda_phage.fa.gz" > targets.txt
kmatch assay "$data/lambda_primers.txt" "$data"/*.fa.gz -k 3 --targets targets.txt \
    --matrix matrix.tsv --positions positions.tsv -o assays.tsv

# A row an assay and genome; where nothing amplifies, the differences of the closest sites.
cut -f 1-3,7-9 assays.tsv

# The letter in which a genome that is amplified differs from a primer.
awk -F '\t' 'NR == 1 || $5 > 0' positions.tsv

#!/usr/bin/env bash
# Off-targets of CRISPR guides beside NGG or NAG, with bulges: crispr_off_targets.sh [FOLDER]
#
# At most five differences to a guide: up to four mismatches, one bulge of the RNA (a letter of the
# guide skipped, --max-insertions) and one of the DNA (a letter of the genome skipped). The PAM has
# no difference; the distance counts the guide alone.
set -euo pipefail
here=$(dirname "$0") out=${1:-.}

kmatch edit "$here/data/human_mito_rcrs.fa.gz" "$here/mito_guides.txt" -k 5 --pam NGG,NAG \
    --max-mismatches 4 --max-insertions 1 --max-deletions 1 \
    -o "$out/off_targets.tsv" --summary "$out/off_targets_summary.tsv"

# How many sites each guide has by its distance; d0 is the site that is meant.
cat "$out/off_targets_summary.tsv"

# The two closest sites of each guide, for eyes.
kmatch edit "$here/data/human_mito_rcrs.fa.gz" "$here/mito_guides.txt" -k 5 --pam NGG,NAG \
    --max-mismatches 4 --max-insertions 1 --max-deletions 1 --limit 2 --quiet --format view

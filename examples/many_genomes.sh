#!/usr/bin/env bash
# Patterns in many genomes at once: many_genomes.sh [FOLDER]
#
# @LIST names a genome a line; each is searched as if alone, and its name is the first column of TSV.
set -euo pipefail
here=$(dirname "$0") out=${1:-.}

ls "$here"/data/*.fa.gz > "$out/genomes.txt"
kmatch hamming "@$out/genomes.txt" "$here/lambda_patterns.txt" -k 3 -o "$out/genomes.tsv"

# Hits by genome and pattern.
tail -n +2 "$out/genomes.tsv" | cut -f 1,5 | sed "s|$here/data/||" | sort | uniq -c

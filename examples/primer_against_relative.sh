#!/usr/bin/env bash
# Where primers bind a phage and not its relative: primer_against_relative.sh [FOLDER]
#
# For each position of the target the shortest substring with at least three differences from
# everything in the relative, both strands; of these, primers of 20 to 26 letters that melt alike.
set -euo pipefail
here=$(dirname "$0") out=${1:-.}

python3 "$here/make_data.py" relative "$here/data/phix174.fa.gz" "$out/relative.fa"

kmatch primer "$here/data/phix174.fa.gz" "$out/relative.fa" -k 3 --both-strands \
    --min-length 20 --max-length 26 --gc 0.4 0.6 --tm 54 58 \
    -o "$out/primers.tsv" --regions "$out/primer_regions.bed"

echo "$(tail -n +2 "$out/primers.tsv" | wc -l) primers; the first ones:"
head -n 4 "$out/primers.tsv"

# The proof: the first primer, wherever it comes closest in the relative.
read -r name start end _ < <(tail -n +2 "$out/primers.tsv" | grep -m 1 '+$')
primer=$(gzip -dc "$here/data/phix174.fa.gz" | tail -n +2 | tr -d '\n' |
    cut -c "$((start + 1))-$end")
echo "$name:$start-$end $primer in the relative:"
kmatch best "$out/relative.fa" -p "$primer" --format tsv --quiet
